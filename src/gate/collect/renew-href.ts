import type { Source } from './fetch-results.js'

/**
 * The current link to the same CSV. Links may be signed anew for each reply and listed in another order: the grid's link that has most
 * in common with the known one is the same CSV, or else the one at the same position.
 */
export function renewHref(known: Source, listed: readonly Source[]): string {
  const own = listed.filter(
    ({ gridId, isLinked }) => gridId === known.gridId && (isLinked || !known.isLinked)
  )
  const atSamePlace = own.find(({ part }) => part === known.part)
  const candidates = atSamePlace === undefined ? own : [atSamePlace, ...own]
  const pieces = piecesOf(known.href)
  const likeness = ({ href }: Source): number =>
    piecesOf(href).filter((piece) => pieces.includes(piece)).length
  const best = Math.max(...candidates.map(likeness))
  return candidates.find((source) => likeness(source) === best)?.href ?? known.href
}

/** The path and each parameter: everything but the signature stays the same. */
function piecesOf(href: string): string[] {
  return href.split(/[?&]/)
}
