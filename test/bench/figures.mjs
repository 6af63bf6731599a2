// Figures of several rounds, and the table that shows them.

/** Returns the middle one of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Returns a number with three digits that count. */
export function short(number) {
  if (!Number.isFinite(number)) return '-'
  if (number >= 100) return Math.round(number).toLocaleString('en')
  return number >= 10 ? number.toFixed(1) : number.toFixed(2)
}

/** Returns rows of texts as a table, the first row being its head; all but the first column are set to the right. */
export function table(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)))
  const line = (row) =>
    row.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  ')
  const [head, ...body] = rows
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(line)].join(
    '\n',
  )
}
