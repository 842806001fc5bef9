/** The different ones among the versions of several nodes: `5.6.3 and 5.5`. */
export function joinVersions(versions: readonly string[]): string {
  const different = [...new Set(versions)]
  const last = different.at(-1) ?? ''
  const others = different.slice(0, -1)
  return others.length === 0 ? last : `${others.join(', ')} and ${last}`
}
