import { extname } from 'node:path'

const SELENIUM = 'java-selenium-chrome or java-selenium-firefox'
/** The tools that run plans in files of other kinds than JMeter's. */
const OTHER_TOOLS: Readonly<Record<string, string>> = {
  '.java': `gatling, ${SELENIUM}`,
  '.scala': 'gatling',
  '.kt': 'gatling',
  '.jar': 'gatling',
  '.ts': 'service-chrome',
  '.js': 'service-chrome'
}

/** Why JMeter cannot run these files, of which the first is the plan: its own words would be those of an XML parser. */
export function refuseForJMeter([plan = '', ...others]: readonly string[]): string | undefined {
  if (isJmx(plan)) return undefined
  const tool = OTHER_TOOLS[extname(plan).toLowerCase()]
  const later = others.find(isJmx)
  const advice =
    later !== undefined
      ? `the plan must be the first file, so put ${later} first`
      : tool !== undefined
        ? `set tool to ${tool}`
        : 'the first file must be the plan, and its name must end in .jmx'
  return `tool jmeter runs .jmx plans, not ${plan}; ${advice}`
}

export function isJmx(name: string): boolean {
  return /\.jmx$/i.test(name)
}
