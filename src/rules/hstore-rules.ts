import type { Finding, Rule } from './rule.ts'

/** hstore's own rules: HS1xxx blocks, HS2xxx trust, HS3xxx graph, HS4xxx contracts, HS5xxx artifacts. */
export const hstoreRules: readonly Rule[] = [
  row('HS1001', 'error', 'codec', 'A linked block is not in the store'),
  row('HS1002', 'error', 'codec', "A block's bytes do not hash to its CID"),
  row('HS1003', 'error', 'codec', 'A block is not canonical DAG-JSON within the limits'),
  row('HS1004', 'error', 'codec', 'A block that should be an entry has not the form of one'),
  row('HS1005', 'error', 'codec', 'An entry was made by a newer hstore'),
  row('HS1006', 'error', 'codec', 'A row of the block table is not named by a CID'),
  row('HS1007', 'info', 'codec', 'A block is in no entry’s closure'),
  row('HS1008', 'error', 'codec', 'An index row differs from what the blocks give'),
  row('HS1009', 'error', 'codec', 'A file of the database is damaged'),
  row('HS1010', 'error', 'codec', 'An entry was acknowledged, and the store does not hold it'),
  row('HS1011', 'error', 'codec', 'The configuration of the store is damaged'),
  row('HS1012', 'warning', 'codec', 'An entry was lost with a database that a rebuild replaced'),
  row('HS2001', 'error', 'trust', 'A signature does not stand'),
  row('HS2002', 'error', 'trust', 'The roster does not know the signer'),
  row('HS2003', 'error', 'trust', 'The signer has no right to state the entry'),
  row('HS2004', 'warning', 'trust', 'An entry is held until a roster decides'),
  row('HS2005', 'warning', 'trust', 'An entry rests on a roster that this store does not hold'),
  row('HS2006', 'error', 'trust', 'An entry belongs to another store'),
  row('HS2007', 'error', 'trust', 'The document names another creator than the entry’s author'),
  row('HS2008', 'error', 'trust', 'A roster is not well-formed'),
  row('HS2009', 'error', 'trust', 'Two rosters are accepted at one version'),
  row(
    'HS2010',
    'warning',
    'trust',
    'A cut, or a pin of one, is none of the key whose grant it closes',
  ),
  row('HS2011', 'warning', 'trust', 'A roster was accepted that the path has passed by'),
  row('HS2101', 'error', 'trust', 'A record is given as the word of an agent who never said it'),
  row('HS2102', 'error', 'trust', 'A record is as it was before somebody who may has changed it'),
  row('HS2103', 'warning', 'trust', 'The state of a record is one that nobody has said who may'),
  row('HS2104', 'warning', 'trust', 'Nothing in the history here proves what a record says'),
  row('HS2105', 'warning', 'trust', 'A record of the history was left out'),
  row(
    'HS2106',
    'warning',
    'trust',
    'An open conflict or unfinished action was left out without its creator or owner',
  ),
  row('HS3001', 'error', 'graph', 'An entry’s name differs from its body'),
  row('HS3002', 'error', 'graph', 'An entry stands in another stream than its body belongs to'),
  row('HS3003', 'error', 'graph', 'An entry’s seq does not follow from prev'),
  row('HS3004', 'error', 'graph', 'prev names an entry that is not the signer’s own in the stream'),
  row('HS3005', 'error', 'graph', 'A parent is no node of the same stream'),
  row('HS3006', 'error', 'graph', 'The links and shallow names differ from the envelope’s parents'),
  row('HS3007', 'error', 'graph', 'Documents are ancestors of each other'),
  row('HS3008', 'warning', 'graph', 'A parent is named and not in the store: history is shallow'),
  row(
    'HS3009',
    'error',
    'graph',
    'One author gave one revision, or one epoch of a lane, two documents',
  ),
  row('HS3010', 'warning', 'graph', 'Two authors gave one revision to different documents'),
  row(
    'HS3011',
    'info',
    'graph',
    'A signer’s chain is forked, as a second clone or a restored backup makes it',
  ),
  row('HS3012', 'info', 'graph', 'current_heads differs from the heads of the graph'),
  row(
    'HS3013',
    'info',
    'graph',
    'A shallow name is held by the store: put the file again without --shallow',
  ),
  row('HS3014', 'info', 'graph', 'A kind of entry is not judged by this version'),
  row('HS3015', 'warning', 'graph', 'An author vouches for the bytes of another’s document'),
  row('HS4001', 'error', 'contract', 'A body does not have the schema of its kind'),
  row('HS4002', 'error', 'contract', 'The file as given does not normalise to the body'),
  row('HS4003', 'error', 'contract', 'The list of artifacts is not well-formed'),
  row('HS5001', 'error', 'artifact', 'An artifact is not in the store'),
  row('HS5002', 'error', 'artifact', 'An artifact’s bytes do not hash to its CID'),
  row('HS5003', 'info', 'artifact', 'An artifact is remote and was not checked'),
]

const byCode = new Map(hstoreRules.map((rule) => [rule.code, rule]))

/** Where a finding is. */
export interface Place {
  readonly cid?: string
  readonly path?: string
  readonly pointer?: string
}

/** Returns a finding of one of hstore's own rules, with the severity that the table gives. */
export function finding(code: string, message: string, place: Place = {}): Finding {
  const rule = byCode.get(code)
  if (rule === undefined) throw new RangeError(`code: wanted one of the table, got ${code}`)
  return { code, severity: rule.severity, message, ...place }
}

function row(code: string, severity: Rule['severity'], where: Rule['where'], title: string): Rule {
  return { code, severity, where, title }
}
