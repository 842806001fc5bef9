/** By their names; of ID tokens those that are plain values, as text. */
export type Claims = Readonly<Record<string, string | readonly string[]>>

/** A claim that is one value; it may be called anything, such as `constructor`. */
export function claimOf(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** A claim such as `groups` has several values. */
export function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return value === undefined ? [] : [value].flat()
}
