/** A property for the tool: `J` for the tool's own, `D` for Java's. */
export interface PropertyOverride {
  readonly kind: 'J' | 'D'
  readonly name: string
  readonly value: string
  /** Whoever gave it said that its value is secret, whatever its name. */
  readonly isSecret?: boolean
}

const OVERRIDE = /^-([JD])([\w.-]+)=([\s\S]*)$/

/**
 * Reads `-Dparam=value, -Jparam=value`; entries are separated by commas or spaces, and a value may contain both.
 * Accepts properties only: any other option could make the tool do something other than run the plan.
 */
export function parseOverrideParameters(text: string): {
  properties: PropertyOverride[]
  problems: string[]
} {
  const properties: PropertyOverride[] = []
  const problems: string[] = []
  for (const entry of splitEntries(text)) {
    const match = OVERRIDE.exec(entry)
    const [, kind, name, value] = match ?? []
    if (name !== undefined && value !== undefined) {
      properties.push({ kind: kind === 'D' ? 'D' : 'J', name, value })
    } else {
      problems.push(`override_parameters: "${entry}" is not -Jname=value or -Dname=value`)
    }
  }
  return { properties, problems }
}

/** A new entry starts where a comma or a space is followed by `-` and a letter; otherwise it belongs to the value. */
function splitEntries(text: string): string[] {
  const entries = text.split(/[\s,]+(?=-[A-Za-z])/).map((entry) => entry.replace(/^[\s,]+|[\s,]+$/g, ''))
  return entries.filter((entry) => entry !== '')
}

/** The effective value: the last one given for the name. */
export function propertyValue(properties: readonly PropertyOverride[], name: string): string | undefined {
  return properties.findLast((property) => property.name === name)?.value
}
