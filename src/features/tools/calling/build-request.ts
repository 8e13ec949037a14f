import {
  type ArgumentSchema,
  type Arguments,
  type Credentials,
  type HttpConfiguration,
  type HttpRequest,
  isImported,
} from './http-configuration.ts'
import { importedRequest } from './imported-request.ts'
import { manualRequest } from './manual-request.ts'
import { placeholdersIn } from './manual-template.ts'
import { namesInPath } from './path-template.ts'

/**
 * Builds the request for a tool's call; sends nothing. Arguments are placed according to the configuration, each encoded for
 * its place, so that none can change where the request goes. Throws VALIDATION_ERROR, whose details name the argument.
 */
export function buildHttpRequest(
  configuration: HttpConfiguration,
  values: Arguments,
  credentials: Credentials = {},
): HttpRequest {
  return isImported(configuration)
    ? importedRequest(configuration, values, credentials)
    : manualRequest(configuration, values)
}

/** Returns the arguments of a configuration without `parameters`: its placeholders, or its path and query parameters. */
export function placeholdersOf(configuration: HttpConfiguration): ArgumentSchema {
  const names = isImported(configuration)
    ? new Map(
        [...namesInPath(configuration.pathTemplate), ...configuration.queryParams].map(name => [name, false]),
      )
    : placeholdersIn(configuration)
  const optional = new Set(isImported(configuration) ? configuration.queryParams : [])
  return {
    type: 'object',
    properties: Object.fromEntries(
      [...names].map(([name, takesAnything]) => [name, takesAnything ? {} : { type: 'string' }]),
    ),
    required: [...names.keys()].filter(name => !optional.has(name)),
    additionalProperties: false,
  }
}
