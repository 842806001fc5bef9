import type * as served from '../../report/page/served-pages.js'

/** Renders the pages. Handed in by the entry, because a gate that starts the embedded service has no pages to show. */
export type Pages = typeof served
