import { readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import {
  decodeProperties,
  parseProperties,
  USER_PROPERTIES
} from '../../../analysis/plans/jmx/user-properties.js'
import { type NodeOrder, type PropertyOverride, propertyValue } from '../engine.js'

/** What uploaded files tell JMeter itself: its properties, and where to find classes. */
export interface GivenFiles {
  readonly properties: readonly PropertyOverride[]
  /** On the command line before the run's own parameters, which win. */
  readonly before: readonly string[]
  /** After them, because it includes them. */
  readonly after: readonly string[]
}

const SEARCH_PATHS = 'search_paths'

export async function readGivenFiles(order: NodeOrder, names: ReadonlySet<string>): Promise<GivenFiles> {
  const { node, planFile } = order
  const folder = node.pathOf(dirname(planFile))
  const hasProperties = names.has(USER_PROPERTIES)
  const text = hasProperties ? decodeProperties(await readFile(join(dirname(planFile), USER_PROPERTIES))) : ''
  const properties = [...parseProperties(text)].map(([name, value]) => ({ kind: 'J' as const, name, value }))
  const hasJars = [...names].some((name) => /\.jar$/i.test(name))
  const own = order.properties.filter(({ kind }) => kind === 'J')
  const paths = [propertyValue([...properties, ...own], SEARCH_PATHS) ?? '', folder]
  return {
    properties,
    before: hasProperties ? ['-q', posix.join(folder, USER_PROPERTIES)] : [],
    // Jars next to the plan are found like those in JMeter's `lib/ext`: plugins, functions, and what scripts use.
    after: hasJars ? [`-J${SEARCH_PATHS}=${paths.filter((path) => path !== '').join(';')}`] : []
  }
}
