import type { PropertyOverride } from './override-parameters.js'

const STRUCK = '***'
const SECRET_NAME = /pass|pwd|secret|token|credential|key|auth|session|cookie|signature/i
/** Shorter values, such as `true`, are in every log for other reasons; where they are set they are struck out too. */
const LEAST_LENGTH = 6

/** Secrets in the places where tools and plans log them, known or not. */
const PLACES: readonly { pattern: RegExp; replacement: string }[] = [
  // `Setting JMeter property: shop.password=…`
  {
    pattern: new RegExp(`( property: [^=\\n]{0,200}(?:${SECRET_NAME.source})[^=\\n]{0,200}=).*`, 'gi'),
    replacement: `$1${STRUCK}`
  },
  // Headers, as a sampler's request data has them.
  {
    pattern: /((?:authorization|cookie2?|x-api-key|x-auth-token|x-csrf-token)["']?\s*[:=]\s*).+/gi,
    replacement: `$1${STRUCK}`
  },
  { pattern: /\b(Bearer|Basic|Digest) [\w+/=.~-]{6,}/g, replacement: `$1 ${STRUCK}` },
  // `https://user:password@host`, `?access_token=…`, and `"password": "…"`.
  { pattern: /(:\/\/)[^\s/:@]{0,200}:[^\s/@]{1,200}@/g, replacement: `$1${STRUCK}@` },
  {
    pattern: /([?&][\w.-]{0,80}(?:pass|pwd|secret|token|key|auth|session|signature)[\w.-]{0,80}=)[^&\s"']+/gi,
    replacement: `$1${STRUCK}`
  },
  {
    pattern: /("[\w.-]{0,80}(?:pass|pwd|secret|token|api_?key)[\w.-]{0,80}"\s*:\s*)"[^"\n]*"/gi,
    replacement: `$1"${STRUCK}"`
  }
]

/** The values of properties whose names say that they are secret. */
export function secretValues(properties: readonly PropertyOverride[]): string[] {
  return properties.filter(({ name }) => SECRET_NAME.test(name)).map(({ value }) => value)
}

/** A log without the secrets that are known, in any of their forms, and without what looks like one. */
export function redactLog(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form.length >= LEAST_LENGTH)
  // The longest first: a part of it must not be struck out before the whole is found.
  forms.sort((a, b) => b.length - a.length)
  const struck = forms.reduce((rest, form) => rest.replaceAll(form, STRUCK), text)
  return PLACES.reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), struck)
}

function formsOf(secret: string): string[] {
  const base64 = (plain: string): string => Buffer.from(plain).toString('base64')
  return [
    secret,
    ...secret.split(/[\r\n]+/),
    encodeURIComponent(secret),
    base64(`${secret}:`),
    // Without the last letters, which depend on what follows.
    base64(secret).replace(/.{0,3}=*$/, '')
  ]
}
