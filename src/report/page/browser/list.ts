import { Connection } from './connection.js'
import { watchCopying } from './copy-table.js'
import { rewrite } from './elements.js'
import { watchTheme } from './theme.js'

watchTheme(() => undefined)
watchCopying()
// The comparison of two runs has no list.
const runs = document.getElementById('runs')
if (runs !== null)
  new Connection(runs.dataset.events ?? '', (data) => {
    // Rendered by the service, with all text escaped.
    rewrite(runs, JSON.parse(data) as string)
    return false
  })
