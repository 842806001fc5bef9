// What a service needs to show its runs to people.
export { renderDetourPage, renderLoginPage } from './served-parts.js'
export type { LoginForm, RenderedPage, ThresholdEditor, Visitor } from './served-parts.js'
export { renderListPage, renderRunList } from './run-list.js'
export type { ListView, RunLine, RunListPage } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
export type { RunJudgement, RunState } from './run-page.js'
