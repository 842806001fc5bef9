/** A region as part of a file name: regions come from services and settings, and may contain anything. */
export function regionName(region: string): string {
  return region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
}
