import { describeCsag } from '../../vectors/csag.ts'
describeCsag(process.env['HSTORE_VECTORS'] ?? '')
