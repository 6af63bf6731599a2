// Draws how times grow: one line a verb over the size of the store, both axes by powers of ten.
const width = 860
const height = 520
const margin = { left: 70, right: 190, top: 30, bottom: 50 }
const colours = [
  '#1b6ca8',
  '#c1440e',
  '#2f7d32',
  '#7b3fa0',
  '#8a6d00',
  '#00797c',
  '#b3275d',
  '#555',
]

/**
 * Returns an SVG.
 *
 * @param {readonly number[]} sizes - Entries of each store.
 * @param {readonly { title: string, values: readonly (number | undefined)[] }[]} lines - Of each verb, a value a size.
 * @param {string} unit - What a value is, for the axis.
 */
export function plot(sizes, lines, unit) {
  const all = lines.flatMap(({ values }) => values).filter((value) => value > 0)
  const x = scale(sizes, margin.left, width - margin.right)
  const y = scale(all, height - margin.bottom, margin.top)
  const names = spread(lines.map(({ values }) => y.at(lastOf(values))))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...x.powers.flatMap((power) => [
      rule(x.at(power), margin.top, x.at(power), height - margin.bottom),
      text(x.at(power), height - margin.bottom + 18, power.toLocaleString('en'), 'middle'),
    ]),
    ...y.powers.flatMap((power) => [
      rule(margin.left, y.at(power), width - margin.right, y.at(power)),
      text(margin.left - 8, y.at(power) + 4, String(power), 'end'),
    ]),
    text((margin.left + width - margin.right) / 2, height - 12, 'entries in the store', 'middle'),
    text(margin.left - 50, margin.top - 12, unit, 'start'),
    ...lines.flatMap((line, i) => drawn(line, sizes, x, y, names[i], colours[i % colours.length])),
    '</svg>',
    '',
  ].join('\n')
}

function drawn({ title, values }, sizes, x, y, nameAt, colour) {
  const points = values.flatMap((value, i) => (value > 0 ? [[x.at(sizes[i]), y.at(value)]] : []))
  const path = points.map((point) => point.map(round).join(',')).join(' ')
  const [right] = points.at(-1)
  return [
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...points.map(
      ([px, py]) => `<circle cx="${round(px)}" cy="${round(py)}" r="3" fill="${colour}"/>`,
    ),
    text(right + 8, nameAt + 4, title, 'start', colour),
  ]
}

/** A scale by powers of ten that holds all `values`, from `from` to `to` in the picture. */
function scale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const powers = Array.from({ length: high - low + 1 }, (_, i) => Number(`1e${low + i}`))
  const at = (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
  return { powers, at }
}

/** Moves names apart that would stand on each other; keeps their order. */
function spread(places) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b])
  const moved = [...places]
  order.forEach((at, i) => {
    if (i > 0) moved[at] = Math.max(moved[at], moved[order[i - 1]] + 14)
  })
  return moved
}

function lastOf(values) {
  return values.findLast((value) => value > 0)
}

function rule(x1, y1, x2, y2) {
  const [a, b, c, d] = [x1, y1, x2, y2].map(round)
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="#ddd"/>`
}

function text(x, y, words, anchor, colour = '#333') {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${words}</text>`
}

function round(number) {
  return Math.round(number * 10) / 10
}
