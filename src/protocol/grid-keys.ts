/** The required keys of a grid's specification. */
export const REQUIRED_GRID_KEYS = [
  'infrastructure',
  'region',
  'instance_quantity',
  'instance_type',
  'stop_after'
] as const

export type RequiredGridKey = (typeof REQUIRED_GRID_KEYS)[number]

export const INFRASTRUCTURES = ['demand', 'hosted'] as const

/** `stop_after` in minutes. */
export const MAX_STOP_AFTER_MIN = 2880

/** The optional keys with a text value; they only matter in a cloud. */
export const OPTIONAL_GRID_TEXTS = [
  'aws_tags',
  'aws_availability_zone',
  'credential_id',
  'azure_tenant_id',
  'aws_arn',
  'aws_vpc_identifier',
  'aws_vpc_subnet_public',
  'aws_vpc_subnet_private',
  'aws_vpc_security_groups'
] as const

/** All optional keys. */
export const OPTIONAL_GRID_KEYS: readonly string[] = [
  'aws_platform',
  'aws_spot_price',
  ...OPTIONAL_GRID_TEXTS
]
