import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { splitAddress } from '#platform/outbound/address-template.ts'
import { multipartTextProblem } from '#platform/outbound/form-body.ts'
import { isConnectionHeader, isHeaderName } from '#platform/outbound/header-rules.ts'
import { isDotSegment } from '#platform/outbound/percent-encoding.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { problemOf } from '#platform/schema-check.ts'
import type { SchemaProblem } from '#platform/schema-problem.ts'
import {
  type ImportedConfiguration,
  importedConfigurationSchema,
  type ManualConfiguration,
  manualConfigurationSchema,
} from './http-configuration.ts'
import { bodyTemplateOf, contentTypeOf, parseHeaders } from './manual-template.ts'
import { isUsableSchema } from './parameters-schema.ts'
import { hasStrayBrace, namesIn } from './placeholders.ts'
import { isRecord, textOf } from './values.ts'

const maxParametersLength = 32_000
const maxBodyLength = 64_000

/** Returns why a configuration of type `http`, from any origin, can't be called; undefined if it can. */
export function validateHttpConfiguration(configuration: unknown): SchemaProblem | undefined {
  if (!isRecord(configuration)) return problem('', 'must be an object')
  const hasImportedForm = 'pathTemplate' in configuration || 'baseUrl' in configuration
  const shape = hasImportedForm ? importedConfigurationSchema : manualConfigurationSchema
  const mismatch = problemOf(shape, configuration)
  if (mismatch !== undefined) return mismatch
  const own = hasImportedForm
    ? importedProblem(configuration as unknown as ImportedConfiguration)
    : manualProblem(configuration as unknown as ManualConfiguration)
  return own ?? parametersProblem(configuration.parameters)
}

function problem(field: string, issue: string): SchemaProblem {
  return { field, issue }
}

function importedProblem(configuration: ImportedConfiguration): SchemaProblem | undefined {
  const target = parseTarget(configuration.baseUrl)
  if (!target.ok) return problem('baseUrl', target.reason)
  if (/[{}]/.test(configuration.baseUrl)) {
    return problem('baseUrl', 'holds a variable in braces; write its value instead')
  }
  if (target.url.search !== '' || target.url.hash !== '') {
    return problem('baseUrl', 'must end with its path: put a query into pathTemplate')
  }
  if (configuration.pathTemplate.split(/[/?#]/).some(isDotSegment)) {
    return problem('pathTemplate', 'must not hold "." or ".." as a part of the path')
  }
  const headers = configuration.placement?.filter(one => one.in === 'header') ?? []
  const wrong = headers.find(({ name }) => !isHeaderName(name))
  return (
    wrong && problem('placement', `holds a header whose name is not valid: ${JSON.stringify(wrong.name)}`)
  )
}

function manualProblem(configuration: ManualConfiguration): SchemaProblem | undefined {
  return (
    addressProblem(configuration.url) ?? headersProblem(configuration.headers) ?? bodyProblem(configuration)
  )
}

function addressProblem(url: string): SchemaProblem | undefined {
  const address = splitAddress(url)
  if (address === undefined) {
    return problem('url', 'must be a full http or https address such as https://example.com/items/{id}')
  }
  if (/[{}]/.test(address.origin)) {
    return problem(
      'url',
      'has a placeholder in its host: placeholders may stand in the path and the query only',
    )
  }
  if (hasStrayBrace(address.path + address.query)) {
    return problem(
      'url',
      'holds a brace that belongs to no placeholder; write %7B and %7D for braces, {name} for a placeholder',
    )
  }
  if (address.path.split('/').some(isDotSegment)) {
    return problem('url', 'must not hold "." or ".." as a part of its path')
  }
  const target = parseTarget(url.replace(/[{}]/g, ''))
  return target.ok ? undefined : problem('url', target.reason)
}

function headersProblem(text: string | undefined): SchemaProblem | undefined {
  const headers = parseHeaders(text)
  if (headers === undefined) {
    return problem(
      'headers',
      'must be the text of a JSON object whose values are texts, such as {"Accept": "text/csv"}',
    )
  }
  const unnamed = headers.find(([name]) => !isHeaderName(name))
  if (unnamed !== undefined)
    return problem('headers', `holds a name that is not valid: ${JSON.stringify(unnamed[0])}`)
  const reserved = headers.find(([name]) => isConnectionHeader(name))
  if (reserved !== undefined)
    return problem('headers', `must not set ${reserved[0]}, which belongs to the connection`)
  const unsendable = headers.find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))
  if (unsendable === undefined) return undefined
  return problem(
    'headers',
    `the value of ${unsendable[0]} holds a line break or a character outside of Latin-1`,
  )
}

function bodyProblem(configuration: ManualConfiguration): SchemaProblem | undefined {
  const headers = parseHeaders(configuration.headers) ?? []
  const template = bodyTemplateOf(configuration, headers)
  if (template.kind === 'none') return undefined
  if (configuration.method === 'GET' || configuration.method === 'HEAD') {
    return problem('body', `can't be sent with ${configuration.method}; leave it out or choose POST`)
  }
  if (JSON.stringify(configuration.body).length > maxBodyLength) {
    return problem('body', `must not be longer than ${maxBodyLength} characters`)
  }
  if (template.kind === 'json' && isDeeperThan(maxLevels, textOf(configuration.body)))
    return problem('body', `must not be nested more than ${maxLevels} levels deep`)
  if (template.kind !== 'text') return undefined
  const contentType = contentTypeOf(headers)
  const ofForm = multipartTextProblem(contentType ?? '', namesIn(template.text).length > 0)
  if (ofForm !== undefined) return problem('body', ofForm)
  if (contentType === undefined ? /^\s*[[{]/.test(template.text) : /[/+]json\b/.test(contentType)) {
    return problem('body', 'is not valid JSON; correct it, or name another Content-Type in the headers')
  }
  return undefined
}

export function parametersProblem(parameters: unknown): SchemaProblem | undefined {
  if (parameters === undefined) return undefined
  if (JSON.stringify(parameters).length > maxParametersLength) {
    return problem('parameters', `must not be longer than ${maxParametersLength} characters of JSON`)
  }
  if (isUsableSchema(parameters)) return undefined
  return problem('parameters', 'is not a JSON Schema that can be used; check its keywords and references')
}
