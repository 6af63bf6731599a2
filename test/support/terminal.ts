import type { Terminal } from '../../src/cli/io.ts'

/** What a pager was given. */
export interface Paged {
  readonly command: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** Returns a terminal whose pager notes what it is given; `starts` says whether there is such a pager. */
export function makeTerminal(
  columns: number,
  starts = true,
): Terminal & { readonly paged: readonly Paged[] } {
  const paged: Paged[] = []
  const page: Terminal['page'] = async (command, env, text) => {
    paged.push({ command, env, text })
    return starts
  }
  return { columns, page, paged }
}
