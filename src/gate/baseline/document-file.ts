/** The name of the document in its artifact. */
export const DOCUMENT_FILE = 'baseline.json.gz'
