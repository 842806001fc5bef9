/** The name of the document in its artifact. */
export const DOCUMENT_FILE = 'baseline.json.gz'

/** As compressed; anything larger is not read. */
export const MOST_DOCUMENT_BYTES = 1024 * 1024
