/** The story after the run's end, as one piece to load. */
export { collect } from './collect.js'
export { conclude } from './conclude.js'
export { keepLogs } from './keep-logs.js'
export { publish } from './publish.js'
