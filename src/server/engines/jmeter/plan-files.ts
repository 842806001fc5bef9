import { extname } from 'node:path'
import type { PlanRequest } from '../engine.js'

const SELENIUM = 'java-selenium-chrome or java-selenium-firefox'
/** The tools that run plans in files of other kinds. */
const OTHER_TOOLS: Readonly<Record<string, string>> = {
  '.java': `gatling, ${SELENIUM}`,
  '.scala': 'gatling',
  '.kt': 'gatling',
  '.jar': 'gatling',
  '.ts': 'service-chrome',
  '.js': 'service-chrome'
}

/** JMeter's own words would be those of an XML parser. */
export function refuseFiles({ fileNames: [plan = '', ...others] }: PlanRequest): string[] {
  if (isJmx(plan)) return []
  const tool = OTHER_TOOLS[extname(plan).toLowerCase()]
  const later = others.find(isJmx)
  const advice =
    later !== undefined
      ? `the plan must be the first file, so put ${later} first`
      : tool !== undefined
        ? `set tool to ${tool}`
        : 'the first file must be the plan, and its name must end in .jmx'
  return [`tool jmeter runs .jmx plans, not ${plan}; ${advice}`]
}

function isJmx(name: string): boolean {
  return /\.jmx$/i.test(name)
}
