/** What calls GitHub's API, with its client, as one module to load lazily. */
export { createBaselineStore } from './baseline/store.js'
export { createCommenter } from './comment.js'
export { readWorkflowBegin } from './workflow-run.js'
