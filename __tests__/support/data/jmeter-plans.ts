/** Small JMeter plans, put together from elements that make no traffic. */

const prop = (name: string, value: string): string => `<stringProp name="${name}">${value}</stringProp>`
const flag = (name: string, value: boolean): string => `<boolProp name="${name}">${value}</boolProp>`

function element(kind: string, name: string, content = '', children = ''): string {
  const tree = children === '' ? '<hashTree/>' : `<hashTree>${children}</hashTree>`
  return `<${kind} guiclass="TestBeanGUI" testclass="${kind}" testname="${name}" enabled="true">${content}</${kind}>${tree}`
}

export function makePlan(...elements: readonly string[]): string {
  const content = `<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan" enabled="true"></TestPlan><hashTree>${elements.join('\n')}</hashTree>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>${content}</hashTree></jmeterTestPlan>\n`
}

/** What an include controller includes. */
export function makeFragment(...elements: readonly string[]): string {
  const content = element('TestFragmentController', 'fragment', '', elements.join('\n'))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>${content}</hashTree></jmeterTestPlan>\n`
}

/** Does what is below it where the condition holds. */
export function ifTrue(condition: string, elements: readonly string[]): string {
  const content = [
    prop('IfController.condition', condition),
    flag('IfController.evaluateAll', false),
    flag('IfController.useExpression', true)
  ]
  return element('IfController', 'if', content.join(''), elements.join('\n'))
}

/** Two threads that do everything twice, unless told otherwise. */
export function group(
  name: string,
  elements: readonly string[],
  options: { threads?: number; loops?: number; onError?: string } = {}
): string {
  const { threads = 2, loops = 2, onError = 'continue' } = options
  const content = [
    prop('ThreadGroup.on_sample_error', onError),
    `<elementProp name="ThreadGroup.main_controller" elementType="LoopController">${flag('LoopController.continue_forever', false)}<intProp name="LoopController.loops">${loops}</intProp></elementProp>`,
    prop('ThreadGroup.num_threads', String(threads)),
    prop('ThreadGroup.ramp_time', '0')
  ]
  return element('ThreadGroup', name, content.join(''), elements.join('\n'))
}

/** Users who arrive by a schedule, and do everything once. */
export function openGroup(name: string, schedule: string, elements: readonly string[]): string {
  const content = [
    prop('ThreadGroup.on_sample_error', 'continue'),
    '<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>',
    prop('OpenModelThreadGroup.schedule', schedule)
  ]
  return element('OpenModelThreadGroup', name, content.join(''), elements.join('\n'))
}

/** A sample that takes about so long and succeeds. */
export function sample(name: string, children: readonly string[] = [], sleepMs = 5): string {
  const argument = (key: string, value: string): string =>
    `<elementProp name="${key}" elementType="Argument">${prop('Argument.name', key)}${prop('Argument.value', value)}</elementProp>`
  const collection = `<collectionProp name="Arguments.arguments">${argument('Sleep_Time', String(sleepMs))}${argument('Sleep_Mask', '0x0')}</collectionProp>`
  return javaRequest(
    name,
    'org.apache.jmeter.protocol.java.test.JavaTest',
    `<elementProp name="arguments" elementType="Arguments">${collection}</elementProp>`,
    children.join('')
  )
}

export function javaRequest(name: string, className: string, content = '', children = ''): string {
  return element('JavaSampler', name, `${content}${prop('classname', className)}`, children)
}

export function dataSet(
  file: string,
  options: { recycle?: boolean; stopThread?: boolean; delimiter?: string } = {}
): string {
  const { recycle = true, stopThread = false, delimiter = ',' } = options
  const content = [
    ...[prop('filename', file), prop('fileEncoding', 'UTF-8'), prop('variableNames', 'user')],
    ...[prop('delimiter', delimiter), flag('ignoreFirstLine', false), flag('quotedData', false)],
    ...[flag('recycle', recycle), flag('stopThread', stopThread), prop('shareMode', 'shareMode.all')]
  ]
  return element('CSVDataSet', 'data', content.join(''))
}

export function include(file: string): string {
  return element('IncludeController', 'include', prop('IncludeController.includepath', file))
}

type ScriptKind = 'JSR223Sampler' | 'JSR223PreProcessor' | 'JSR223Assertion'

export function script(
  kind: ScriptKind,
  name: string,
  source: { file: string } | { groovy: string }
): string {
  const content = [
    prop('scriptLanguage', 'groovy'),
    prop('cacheKey', 'true'),
    prop('filename', 'file' in source ? source.file : ''),
    prop('script', 'groovy' in source ? source.groovy : '')
  ]
  return element(kind, name, content.join(''))
}

export function badExtractor(): string {
  const content = [prop('RegexExtractor.refname', 'r'), prop('RegexExtractor.regex', '((')]
  return element('RegexExtractor', 'extract', [...content, prop('RegexExtractor.template', '$1$')].join(''))
}

/** A request to a port where nobody listens. */
export function refusedRequest(name: string): string {
  const content = [
    ...[prop('HTTPSampler.domain', '127.0.0.1'), prop('HTTPSampler.port', '1')],
    ...[
      prop('HTTPSampler.protocol', 'http'),
      prop('HTTPSampler.path', '/'),
      prop('HTTPSampler.method', 'GET')
    ]
  ]
  return element('HTTPSamplerProxy', name, content.join(''))
}

/** A listener that writes where it cannot, and one whose class nobody has. */
export function badListeners(): string {
  const args =
    '<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/></elementProp>'
  return [
    element('ResultCollector', 'write', prop('filename', '/proc/nowhere/x.jtl')),
    element('BackendListener', 'send', `${args}${prop('classname', 'com.example.NoBackend')}`)
  ].join('')
}

/** Points to a controller that is not in the plan. */
export function missingModule(): string {
  const path = ['plan', 'plan', 'gone'].map((name, index) => prop(String(index), name)).join('')
  return element(
    'ModuleController',
    'module',
    `<collectionProp name="ModuleController.node_path">${path}</collectionProp>`
  )
}
