// An ssh-agent that does what its first argument says. It runs as a process of its own, since hstore waits for an agent
// with its whole thread. Arguments: script, socket, the private key as PKCS#8 in PEM.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { createServer } from 'node:net'

const [script = '', socketPath = '', pem = ''] = process.argv.slice(2)
const key = createPrivateKey(pem)
const publicKey = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url')

/** @typedef {import('node:net').Socket} Socket */

/** @param {number} value */
const uint32 = (value) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
/** @param {string | Uint8Array} content */
const string = (content) =>
  Buffer.concat([uint32(content.length), Buffer.from(/** @type {string} */ (content))])
/** @param {Uint8Array[]} parts */
const frame = (...parts) => string(Buffer.concat(parts))
/** @param {Uint8Array} bytes */
const blobOf = (bytes) => Buffer.concat([string('ssh-ed25519'), string(bytes)])
const failure = frame(Buffer.of(5))
/** @param {Uint8Array[]} blobs */
const list = (...blobs) =>
  frame(Buffer.of(12), uint32(blobs.length), ...blobs.flatMap((blob) => [string(blob), string('')]))
const held = list(blobOf(publicKey))
/**
 * @param {Uint8Array} signature
 * @param {string} type
 */
const signed = (signature, type = 'ssh-ed25519') =>
  frame(Buffer.of(14), string(Buffer.concat([string(type), string(signature)])))

/**
 * What was asked to be signed.
 *
 * @param {Buffer} request
 */
function dataOf(request) {
  const at = 5 + 4 + request.readUInt32BE(5)
  return request.subarray(at + 4, at + 4 + request.readUInt32BE(at))
}
/** @param {Buffer} request */
const good = (request) => sign(null, dataOf(request), key)

/** @type {Record<string, (socket: Socket) => Uint8Array | undefined>} */
const lists = {
  'fails to list': () => failure,
  'lists nothing': () => list(),
  'lists another key': () => list(blobOf(Buffer.alloc(32, 7))),
  'lists a key of FIDO': () =>
    list(Buffer.concat([string('sk-ssh-ed25519@openssh.com'), string(publicKey), string('ssh:')])),
  'counts too many': () => frame(Buffer.of(12), uint32(0xffffffff), string(blobOf(publicKey))),
  'lists and says more': () => frame(held.subarray(4), Buffer.of(0)),
  'gives another message': () => frame(Buffer.of(6)),
  'gives an empty message': () => uint32(0),
  'promises 4 GiB': () => uint32(0xffffffff),
  'says more than it promised': () => Buffer.concat([held, held]),
  'hangs up half way': (socket) => {
    socket.end(held.subarray(0, 20))
    return undefined
  },
  'hangs up at once': (socket) => {
    socket.destroy()
    return undefined
  },
  'never answers': () => undefined,
  'answers a byte a second': (socket) => {
    let at = 0
    const timer = setInterval(() => socket.write(held.subarray(at, ++at)), 1000)
    socket.on('close', () => clearInterval(timer))
    return undefined
  },
}
/** @type {Record<string, (request: Buffer, socket: Socket) => Uint8Array | undefined>} */
const signs = {
  'is honest': (request) => signed(good(request)),
  'answers in pieces': (request, socket) => {
    const answer = signed(good(request))
    let at = 0
    const next = () => {
      if (at < answer.length) socket.write(answer.subarray(at, ++at), next)
    }
    next()
    return undefined
  },
  'refuses to sign': () => failure,
  'signs something else': () => signed(sign(null, Buffer.from('else'), key)),
  'gives zeros': () => signed(Buffer.alloc(64)),
  'gives half a signature': (request) => signed(good(request).subarray(0, 32)),
  'gives a longer signature': (request) => signed(Buffer.concat([good(request), Buffer.of(0)])),
  'names another type': (request) => signed(good(request), 'ssh-rsa'),
  'gives S + L': (request) => {
    const signature = Buffer.from(good(request))
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    let s = BigInt(`0x${Buffer.from(signature.subarray(32).toReversed()).toString('hex')}`) + order
    for (let i = 32; i < 64; i++, s >>= 8n) signature[i] = Number(s & 255n)
    return signed(signature)
  },
  'signs and says more': (request) => frame(signed(good(request)).subarray(4), Buffer.from('more')),
  'signs with an empty answer': () => frame(Buffer.of(14)),
}

createServer((socket) => {
  /** @type {Buffer} */
  let given = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    given = Buffer.concat([given, chunk])
    if (given.length < 5 || given.length < 4 + given.readUInt32BE(0)) return
    const answer =
      given[4] === 11 ? (lists[script] ?? (() => held))(socket) : signs[script]?.(given, socket)
    if (answer !== undefined) socket.write(answer)
  })
}).listen(socketPath, () => process.stdout.write('ready\n'))
