import type { Bundle } from './bundle.ts'
import { splitEnvironment } from './document.ts'
import type { HandoffJudgement } from './handoff.ts'
import { parseLocator } from './locator.ts'
import { isObject } from './paper.ts'

/**
 * Returns the files of the bundle that an envelope names and that are there, be they as declared or not, and be the
 * envelope valid or not: what a report must not overwrite.
 *
 * @param bundle - The one that the judgement was made with: it has hashed most of them.
 * @returns Link-resolved absolute paths in a directory.
 */
export async function listNamedFiles(
  judgement: HandoffJudgement,
  bundle: Bundle,
): Promise<string[]> {
  const keys = new Set(judgement.localFiles.map((local) => local.key))
  for (const text of findLocators(judgement.input?.value ?? judgement.document)) {
    const locator = parseLocator(text)
    const answer = locator.kind === 'local' ? await bundle.locate(locator.segments) : locator
    if (answer.kind === 'file') keys.add(answer.file.key)
  }
  return [...keys]
}

function* findLocators(document: unknown): Generator<string, void> {
  if (!isObject(document)) return
  yield* findRecordLocators(document['source_artifacts'])
  for (const execution of objectsOf(document['executions'])) {
    yield* findRecordLocators(execution['inputs'])
    yield* findRecordLocators(execution['outputs'])
    const { environment } = execution
    if (typeof environment === 'string') yield splitEnvironment(environment).locator
  }
}

function* findRecordLocators(list: unknown): Generator<string, void> {
  for (const { artifact_path: locator } of objectsOf(list)) {
    if (typeof locator === 'string') yield locator
  }
}

function objectsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}
