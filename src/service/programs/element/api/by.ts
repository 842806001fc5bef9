export interface Evaluated {
  readonly script: unknown
  readonly args: readonly unknown[]
}

/** Describes how to find elements; scripts get it from `By`. */
export class Locator {
  constructor(
    /** As the script wrote it, for messages. */
    readonly text: string,
    /** In the browser library's syntax, unless the page is asked with a function. */
    readonly selector: string | undefined,
    readonly evaluated: Evaluated = { script: undefined, args: [] }
  ) {}

  toErrorString(): string {
    return this.text
  }

  toString(): string {
    return this.text
  }
}

const VISIBLE = ' >> visible=true'
const NOT_CODE = 'not(self::script or self::style or self::title)'

const visibleText = (name: string) => (text: string) =>
  new Locator(
    `By.${name}('${text}')`,
    `xpath=//*[${NOT_CODE}][text()[contains(.,${quoteXPath(text)})]]${VISIBLE}`
  )

export const By = {
  css: (selector: string) => new Locator(`By.css('${selector}')`, `css=${selector}`),
  id: (id: string) => new Locator(`By.id('${id}')`, attribute('*', 'id', id.replace(/^#/, ''))),
  xpath: (path: string) => new Locator(`By.xpath('${path}')`, `xpath=${path}`),
  tagName: (name: string) => new Locator(`By.tagName('${name}')`, `css=${name}`),
  nameAttr: (value: string) => new Locator(`By.nameAttr('${value}')`, attribute('*', 'name', value)),
  attr: (tag: string, name: string, value?: string) =>
    new Locator(`By.attr('${tag}', '${name}', '${value ?? ''}')`, attribute(tag, name, value)),
  linkText: (text: string) =>
    new Locator(`By.linkText('${text}')`, `xpath=//a[normalize-space(.)=${quoteXPath(text.trim())}]`),
  partialLinkText: (text: string) =>
    new Locator(
      `By.partialLinkText('${text}')`,
      `xpath=//a[contains(normalize-space(.),${quoteXPath(text.trim())})]`
    ),
  // Both look for a part of the text, as Element's do.
  visibleText: visibleText('visibleText'),
  partialVisibleText: visibleText('partialVisibleText'),
  js: (script: unknown, ...args: unknown[]) => new Locator('By.js(…)', undefined, { script, args })
}

/** A string is a CSS selector, or XPath if it looks like one. */
export function toLocator(target: unknown): Locator {
  if (target instanceof Locator) return target
  if (typeof target === 'string') return /^\(*\.?\/\//.test(target) ? By.xpath(target) : By.css(target)
  const given = target === null || target === undefined ? String(target) : `a value of type ${typeof target}`
  throw new Error(`expected an element, a By locator or a selector, got ${given}`)
}

function attribute(tag: string, name: string, value: string | undefined): string {
  return `css=${tag}[${name}${value === undefined ? '' : `=${quoteCss(value)}`}]`
}

function quoteCss(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`
}

/** XPath has no escapes within a text. */
export function quoteXPath(text: string): string {
  if (!text.includes("'")) return `'${text}'`
  const parts = text.split("'").map((part) => `'${part}'`)
  return `concat(${parts.join(`,"'",`)})`
}
