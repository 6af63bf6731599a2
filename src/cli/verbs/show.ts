import { entryReport } from '../../reports.ts'
import type { Shown } from '../../show.ts'
import type { Io } from '../io.ts'
import { paintOf } from '../paint.ts'
import { print } from '../print.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'
import { entryText } from '../show-lines.ts'

/** `hstore show`: what a block is: an entry with its document, an artifact, or a list of artifacts. */
export const show: Verb = async (io, [ref = ''], options) => {
  const { text, json } = await read(io, ref, options)
  if (options.json === true) await io.out(jsonLine('show', json))
  else await print(io, text)
  return 0
}

interface Views {
  readonly text: string
  readonly json: object
}

/** The store is closed by the time that a person reads. */
async function read(io: Io, ref: string, options: Parameters<Verb>[2]): Promise<Views> {
  await using store = await openNamed(io, options)
  const shown = await store.show(ref)
  warn(io, ref, shown)
  const views = await viewsOf(io, shown)
  return views
}

/** What is not valid is said on stderr as well, where a script that reads the document sees it. */
function warn(io: Io, ref: string, shown: Shown): void {
  if (!('standing' in shown) || shown.standing.standing === 'valid') return
  io.err(`hstore: warning: ${plain(`${ref} is not valid: ${shown.standing.why}`)}\n`)
}

async function viewsOf(io: Io, shown: Shown): Promise<Views> {
  const { cid, kind } = shown
  if ('entry' in shown) {
    const { entry, document } = shown
    const json = { ...entryReport(entry), document }
    return { json, text: entryText(shown, paintOf(io)) }
  }
  if ('artifacts' in shown) {
    const { artifacts } = shown
    const names = artifacts.map((artifact) => `artifact: ${artifact}\n`).join('')
    return { json: { cid, kind, artifacts }, text: `cid: ${cid}\nkind: list\n${names}` }
  }
  let size = 0
  for await (const chunk of shown.chunks) size += chunk.length
  const text = `cid: ${cid}\nkind: artifact\nsize: ${size} bytes, which hash to the CID\n`
  return { json: { cid, kind, size }, text }
}
