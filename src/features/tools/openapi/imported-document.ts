/** The tools and warnings of an OpenAPI document. */
import type { ImportedConfiguration } from '../calling/http-configuration.ts'
import type { DescribedScheme } from './security.ts'

export interface ImportedOperation {
  name: string
  description: string
  /** False for an operation that cannot be called as it is; a warning says why. */
  isEnabled: boolean
  configuration: ImportedConfiguration
}

export interface SkippedOperation {
  /** The operation, such as `GET /pets/{id}`, or a path whose operations are unknown. */
  operation: string
  reason: string
}

export interface ImportWarning {
  operation?: string
  warning: string
}

export interface ImportedDocument {
  /** `info.title`; empty if there is none. */
  title: string
  operations: ImportedOperation[]
  skipped: SkippedOperation[]
  warnings: ImportWarning[]
  /** The schemes that any of the operations can use. */
  securitySchemes: DescribedScheme[]
  /** Addresses of documents of the same origin without which operations had to be skipped. */
  missing: string[]
}
