import type { Io } from './io.ts'

/** Prints what a verb has to show a person: on a terminal through the pager, elsewhere as it is. */
export async function print(io: Io, text: string): Promise<void> {
  const command = io.terminal === undefined ? undefined : pagerOf(io)
  if (command !== undefined && io.terminal !== undefined && text !== '') {
    const { LESS = 'FRX', ...rest } = io.env
    // the passphrase is no business of another program
    const env = { ...rest, LESS, HSTORE_PASSPHRASE: undefined }
    if (await io.terminal.page(command, env, text)) return
  }
  await io.out(text)
}

/** Returns the pager's command: HSTORE_PAGER, PAGER, or less; none where it is empty or cat. */
function pagerOf({ env }: Io): string | undefined {
  const command = (env['HSTORE_PAGER'] ?? env['PAGER'] ?? 'less').trim()
  return command === '' || command === 'cat' ? undefined : command
}
