import { matchesPieces } from '../../values/label-pattern.js'
import type { Pattern } from './threshold.js'

export function matchesPattern({ pieces }: Pattern, value: string): boolean {
  return matchesPieces(pieces, value)
}
