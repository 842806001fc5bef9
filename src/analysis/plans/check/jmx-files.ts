import { posix } from 'node:path'
import { type PlanElement, readSubPaths, textsOf } from '../jmx/plan-tree.js'
import { quote, shorten, type Finding, type PlanRequest } from './request.js'
import type { JmxPlan } from './jmx-plan.js'

interface NamedFile {
  readonly path: string
  /** Who reads it: `CSV Data Set "users"`. */
  readonly by: string
}

/** The properties that name a file, by the element's kind, and the element's name in JMeter's menus. */
const FILE_PROPERTIES: Readonly<Record<string, readonly [property: string, called: string]>> = {
  CSVDataSet: ['filename', 'CSV Data Set'],
  IncludeController: ['IncludeController.includepath', 'Include Controller'],
  JSR223Sampler: ['filename', 'JSR223 Sampler'],
  JSR223PreProcessor: ['filename', 'JSR223 PreProcessor'],
  JSR223PostProcessor: ['filename', 'JSR223 PostProcessor'],
  JSR223Timer: ['filename', 'JSR223 Timer'],
  JSR223Assertion: ['filename', 'JSR223 Assertion'],
  BeanShellSampler: ['BeanShellSampler.filename', 'BeanShell Sampler'],
  BeanShellPreProcessor: ['filename', 'BeanShell PreProcessor'],
  BeanShellPostProcessor: ['filename', 'BeanShell PostProcessor'],
  XMLSchemaAssertion: ['xmlschema_assertion_filename', 'XML Schema Assertion']
}
/** Functions whose first argument is a file. */
const FILE_FUNCTION = /\$\{__(CSVRead|FileToString|StringFromFile|XPath)\(([^,(){}$]{1,500})[,)]/g
/** More arguments: the name is a pattern for a sequence of files, which is only known at run time. */
const SEQUENCE = /^,[^,()]{0,200},/
const AT_RUN_TIME = '${__StringFromFile}'
const KEYSTORES = ['javax.net.ssl.keyStore', 'javax.net.ssl.trustStore']
const WINDOWS_PATH = /^[A-Za-z]:[\\/]|\\/
/** Elements that may write the file that another one reads. */
const WRITER = /^(?:SystemSampler|ResultSaver|FTPSampler)$|\./

export function checkFiles(plan: JmxPlan, request: PlanRequest): Finding[] {
  const named = [
    ...plan.enabled.flatMap(({ element }) => filesOf(element)),
    ...request.parameters
      .filter(({ kind, name }) => kind === 'D' && KEYSTORES.includes(name))
      .map(({ name, value }) => ({ path: value, by: `-D${name}` }))
  ]
  const around = lookAround(plan, request)
  const seen = new Set<string>()
  return named.flatMap(({ path: written, by }) => {
    const path = plan.evaluate(written)?.trim()
    if (path === undefined || path === '' || seen.has(path)) return []
    seen.add(path)
    return checkPath({ path, by }, around)
  })
}

/** `alike` has the names of the files by their names in lower case. */
function lookAround(plan: JmxPlan, request: PlanRequest) {
  const names = new Set([request.plan, ...request.others].map(({ name }) => name))
  const alike = new Map([...names].map((name) => [name.toLowerCase(), name]))
  const linked = new Set(readSubPaths([request.plan, ...request.others].flatMap(textsOf), names))
  const isWritten =
    plan.isOpaque || plan.hasScripts || plan.enabled.some(({ element }) => WRITER.test(element.kind))
  return { request, names, alike, linked, isWritten }
}

function filesOf({ kind, name, text, properties, parts }: PlanElement): NamedFile[] {
  const [property, called = ''] = FILE_PROPERTIES[kind] ?? []
  const path = property === undefined ? undefined : properties.get(property)
  const uploads = parts
    .filter(({ type }) => type === 'HTTPFileArg')
    .flatMap(({ properties }) => properties.get('File.path') ?? [])
    .map((path) => ({ path, by: `The request ${quote(name)}` }))
  const read = [...text.matchAll(FILE_FUNCTION)]
    // `*ALL` is the name that an earlier call gave to its file.
    .filter(([, , file = '']) => !file.trim().startsWith('*'))
    .map(({ 0: { length }, 1: called = '', 2: file = '', index }) => {
      const rest = text.slice(index + length - 1, index + length + 300)
      const isSequence = called === 'StringFromFile' && SEQUENCE.test(rest)
      return { path: isSequence ? AT_RUN_TIME : file, by: `\${__${called}(…)} in ${quote(name)}` }
    })
  return [...(path === undefined ? [] : [{ path, by: `The ${called} ${quote(name)}` }]), ...uploads, ...read]
}

function checkPath(
  { path, by }: NamedFile,
  { request, names, alike, linked, isWritten }: ReturnType<typeof lookAround>
): Finding[] {
  const base = path.split(/[\\/]/).at(-1) ?? ''
  const isListed = names.has(base)
  const level = request.isEmbedded && !isWritten ? 'error' : 'warning'
  const tell = (rest: string): Finding[] => [{ level, message: `${by} reads ${shorten(path)}, ${rest}` }]
  if (!path.startsWith('/') && WINDOWS_PATH.test(path))
    return tell(
      `a path of Windows, and the plan runs on Linux or macOS; ${isListed ? `write ${base}: files are next to the plan.` : `list ${base} under files, and write ${base} in the plan.`}`
    )
  // A service has folders of its own.
  if (path.startsWith('/'))
    return !request.isHere || request.isThere(path)
      ? []
      : tell(`which does not exist; list it under files, and write ${base} in the plan.`)
  if (!isListed) {
    const other = alike.get(base.toLowerCase())
    const what = other === undefined ? `add its path to files` : `${other} is; upper and lower case differ`
    const flat =
      path.includes('/') && !request.isEmbedded
        ? `, and write ${base} in the plan: a service drops folders`
        : ''
    return tell(`which is not listed under files; ${what}${flat}.`)
  }
  if (!path.includes('/') || path === `./${base}`) return []
  if (request.isEmbedded && linked.has(posix.normalize(path))) return []
  return tell(`but files are next to the plan, without their folders; write ${base} in the plan.`)
}
