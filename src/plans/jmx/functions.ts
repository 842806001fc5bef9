/** The value of a property, or of the default that the function has for it; undefined if it is only known at run time. */
export type PropertyLookup = (name: string, fallback: string) => string | undefined

const INNERMOST = /\$\{([^${}]*)\}/g
const DEEPEST = 10

/** The value of a function call without its `${…}`, as far as it depends on properties alone. */
export function callFunction(expression: string, property: PropertyLookup): string | undefined {
  const [, name, fallback] = /^__P\(([^,()]*)(?:,(.*))?\)$/s.exec(expression) ?? []
  if (name !== undefined) return property(name.trim(), fallback ?? '1')
  const [, other, text] = /^__property\(([^,()]*)(?:,[^,()]*(?:,(.*))?)?\)$/s.exec(expression) ?? []
  if (other !== undefined) return property(other.trim(), text ?? other)
  const sum = /^__(?:int|long)Sum\(\s*(-?\d{1,15}(?:\s*,\s*-?\d{1,15})+)\s*\)$/.exec(expression)?.[1]
  return sum
    ?.split(',')
    .reduce((total, number) => total + Number(number), 0)
    .toString()
}

/** The text with all its functions called; undefined if it has others, or variables. */
export function expandFunctions(text: string, property: PropertyLookup): string | undefined {
  let value = text
  for (let depth = 0; value.includes('${') && depth < DEEPEST; depth++)
    value = value.replace(INNERMOST, (whole, call: string) => callFunction(call.trim(), property) ?? whole)
  return value.includes('${') ? undefined : value
}
