/** What a document may hold at most, when it is written and when it is read: everybody may have written it. */
export const MOST_BYTES = 1024 * 1024
/** Decompressed. */
export const MOST_TEXT_BYTES = 16 * 1024 * 1024
/** Objects and arrays in a whole document. */
export const MOST_BRACKETS = 1_000_000
export const DEEPEST = 8
