export type { Account, Grid, Report, ResultLink, Run, RunNode, RunPage } from '../../contract/api.js'
