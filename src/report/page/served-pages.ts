// What a service needs to show its runs to people.
export { renderListPage, renderRunList } from './run-list.js'
export type { ListView, RunLine, RunListPage } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
export type { RenderedPage, RunJudgement, RunState } from './run-page.js'
export type { ThresholdEditor, Visitor } from './served-parts.js'
