import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { exitOf } from '../src/cli/exit-codes.ts'
import type { VerbSpec } from '../src/cli/verb-table.ts'
import { globalOptions, verbs } from '../src/cli/verb-table.ts'
import { rules } from '../src/rules/table.ts'
import { findingsPage, unpadded } from './support/findings-page.ts'
import { historyBundle } from './support/history.ts'
import { makeTempFolder } from './support/temp-folder.ts'
import type { Shell } from './support/transcript.ts'
import { codeFences, isShown, parseTranscript, runCommand } from './support/transcript.ts'
import { cp } from 'node:fs/promises'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')
