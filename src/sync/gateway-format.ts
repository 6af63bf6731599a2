/** A form that a gateway gives a block in. */
export type GatewayFormat = 'raw' | 'car'

/** Media types of both forms: what a client may name, and what it gets. */
export const mediaTypes: Readonly<Record<GatewayFormat, string>> = {
  raw: 'application/vnd.ipld.raw',
  car: 'application/vnd.ipld.car; version=1; order=dfs; dups=n',
}

/**
 * Returns the form that a request asks for, by `format` and then by `Accept`, or the status that refuses it: 400 for
 * parameters that are not known and where it names no form at all, 406 where it takes none of both. What the store holds
 * has no part in it.
 *
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/
 */
export function formatAsked(
  params: URLSearchParams,
  accept: string | undefined,
): GatewayFormat | 400 | 406 {
  const format = params.get('format') ?? acceptedIn(accept)
  if (format === 406) return 406
  if (format !== 'raw' && format !== 'car') return 400
  return format === 'raw' || isPlainCar(params) ? format : 400
}

const carParams: Readonly<Record<string, readonly string[]>> = {
  'car-version': ['1'],
  'car-order': ['dfs', 'unk'],
  'car-dups': ['y', 'n'],
  // a CAR holds the one block
  'dag-scope': ['block', 'entity'],
}

function isPlainCar(params: URLSearchParams): boolean {
  return Object.entries(carParams).every(([name, known]) => {
    const value = params.get(name)
    return value === null || known.includes(value)
  })
}

function acceptedIn(accept: string | undefined): GatewayFormat | 400 | 406 {
  if (accept === undefined) return 400
  let best: { readonly format: GatewayFormat; readonly q: number } | undefined
  for (const range of accept.split(',')) {
    const [type = '', ...params] = range.split(';').map((part) => part.trim().toLowerCase())
    const format = formatOf(type, params)
    const q = Number(valueOf(params, 'q') ?? 1)
    if (format !== undefined && q > (best?.q ?? 0)) best = { format, q }
  }
  return best?.format ?? 406
}

function formatOf(type: string, params: readonly string[]): GatewayFormat | undefined {
  if (type === '*/*' || type === 'application/*' || type === mediaTypes.raw) return 'raw'
  const isCar = type === 'application/vnd.ipld.car' && (valueOf(params, 'version') ?? '1') === '1'
  return isCar ? 'car' : undefined
}

function valueOf(params: readonly string[], name: string): string | undefined {
  return params.find((param) => param.startsWith(`${name}=`))?.slice(name.length + 1)
}
