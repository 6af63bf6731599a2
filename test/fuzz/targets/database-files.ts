import { Level } from 'level'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readLogRows } from '../../../store/log-rows.ts'
import type { FileRow } from '../../../store/table-rows.ts'
import { readTableRows } from '../../../store/table-rows.ts'
import type { Target } from '../target.ts'
import { byteMutator, expectThat, textOfBytes } from '../target.ts'

const rows = new Map(
  Array.from({ length: 60 }, (_, i) => [`!blocks!${i}`, `${i} `.repeat(10 + 7 * i)]),
)

/**
 * The files of LevelDB that a rebuild reads by itself.
 *
 * @param folder - For a database.
 */
export async function databaseFileTargets(folder: string): Promise<Target[]> {
  const database = path.join(folder, 'database')
  const level = new Level(database)
  for (const [key, value] of rows) await level.put(key, value)
  await level.close()
  const log = readOnly(database, '.log')
  // an opening makes a table of the log
  await level.open()
  await level.close()
  const table = readOnly(database, '.ldb')
  return [
    { name: 'log', share: 10, seeds: [log], mutate: byteMutator, run: (b) => run(readLogRows(b)) },
    {
      name: 'table',
      share: 10,
      seeds: [table, table.subarray(0, -48)],
      mutate: byteMutator,
      run: (b) => run(readTableRows(b)),
    },
  ]
}

function readOnly(folder: string, end: string): Uint8Array {
  const name = readdirSync(folder).find((one) => one.endsWith(end))
  expectThat(`no ${end}`, name !== undefined)
  return new Uint8Array(readFileSync(path.join(folder, name!)))
}

function run(found: Iterable<FileRow>): string {
  const sound = new Set<string>()
  let unsound = ''
  for (const { key, value, sound: isSound } of found) {
    expectThat('a value that is longer than any block', value.length <= 5 * 1024 * 1024)
    if (!isSound) unsound = ', and unsound ones'
    if (!isSound) continue
    const name = textOfBytes(key)
    expectThat(`${name} is another`, rows.get(name) === textOfBytes(value))
    sound.add(name)
  }
  return (sound.size === rows.size ? 'all' : sound.size > 0 ? 'some' : 'none') + unsound
}
