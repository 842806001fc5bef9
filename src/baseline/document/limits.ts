/** What a document may hold at most, when it is written and when it is read: everybody may have written it. */
export const MOST_BYTES = 1024 * 1024
/** Decompressed. */
export const MOST_TEXT_BYTES = 16 * 1024 * 1024
/** Of a label or a region. Longer ones are not recorded. */
export const LONGEST_NAME = 2000
export const LONGEST_REASON = 500
export const LONGEST_BRANCH = 300
export const LONGEST_ID = 200
export const MOST_SCOPES = 20_000
export const MOST_HISTOGRAM_VALUES = 5000
/** Objects and arrays in a whole document. */
export const MOST_BRACKETS = 1_000_000
export const DEEPEST = 8
/** The last day that a date can be. */
export const LATEST_MS = 8.64e15
