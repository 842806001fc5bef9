/** How many response codes are told apart; the rarer ones are `other`. */
export const MOST_CODES = 8
/** How many labels have a series of their own. */
export const MOST_DETAILED_LABELS = 20
export const MOST_LABEL_BUCKETS = 120
/** Of how many errors the first failed samples are kept, and how many of each. */
export const MOST_SAMPLED_ERRORS = 20
export const MOST_SAMPLES_AN_ERROR = 3
