/** Returns where a text stands in a sorted list, or would have to. */
export function placeIn(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < text) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns whether a sorted list holds a text: rows of indexes are long where many things lie beside each other. */
export function includesSorted(sorted: readonly string[], text: string): boolean {
  return sorted[placeIn(sorted, text)] === text
}
