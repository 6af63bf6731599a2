import { oddKeys, oddValues } from './odd-values.ts'

/** What picks a place, a value and a deed. */
export type Step = readonly [seed: number, choice: number, deed: number]

type Holder = Record<string, unknown>

/** Replaces, removes, adds or renames something at a place that `seed` picks. */
export function mutateTree(
  root: unknown,
  [seed, choice, deed]: Step,
  values: readonly unknown[] = oddValues,
): void {
  const places: [holder: Holder, key: string][] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, member] of Object.entries(value)) {
      places.push([value as Holder, key])
      walk(member)
    }
  }
  walk(root)
  const [holder, key] = places[seed % Math.max(places.length, 1)] ?? []
  if (holder === undefined || key === undefined) return
  const value = structuredClone(values[choice % values.length])
  if (deed % 6 === 0 && !Array.isArray(holder)) delete holder[key]
  else if (deed % 6 === 1 && Array.isArray(holder)) holder.push(value, holder[Number(key)])
  else if (deed % 6 === 2) holder[key] = structuredClone(places[choice % places.length]?.[0])
  else if (deed % 6 === 3) rename(holder, key, oddKeys[choice % oddKeys.length]!)
  else holder[key] = value
}

function rename(holder: Holder, key: string, name: string): void {
  const value = holder[key]
  if (!Array.isArray(holder)) delete holder[key]
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}
