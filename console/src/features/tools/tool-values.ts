import type { JsonSchema, Values } from '#console/ui/schema.ts'
import type { AgentTool, NewTool, ToolChanges, ToolType } from './requests.ts'
import type { en } from './text.ts'

type Fields = (typeof en)['fields']

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const code = { type: 'string', format: 'code' }

/** True if a tool was imported from a document, which defines the call. */
export const isImported = ({ configuration }: Pick<AgentTool, 'configuration'>) =>
  configuration.pathTemplate !== undefined

/** The form's fields for a tool type. Without `hasConfiguration`, call settings are not editable. */
export function schemaOf(type: ToolType, t: Fields, hasConfiguration = true): JsonSchema {
  const parameters = { title: t.parameters, description: t.parametersHint, type: 'object' }
  const configurations: Record<ToolType, JsonSchema> = {
    http: {
      title: t.request,
      required: ['url', 'method'],
      properties: {
        method: { title: t.method, enum: methods, default: 'GET' },
        url: {
          title: t.url,
          description: t.urlHint,
          type: 'string',
          examples: ['https://example.com/orders/{orderId}'],
        },
        headers: {
          ...code,
          title: t.headers,
          description: t.headersHint,
          examples: ['Authorization: Bearer …'],
        },
        body: { ...code, title: t.body, description: t.bodyHint },
        parameters,
      },
    },
    javascript: {
      title: t.program,
      required: ['code'],
      properties: {
        code: {
          ...code,
          title: t.code,
          description: t.codeHint,
          examples: ['return (args.fahrenheit - 32) / 1.8'],
        },
        parameters,
      },
    },
    mcp: {
      title: t.server,
      required: ['serverId', 'toolName'],
      properties: {
        serverId: { title: t.serverId, type: 'string' },
        toolName: { title: t.toolName, type: 'string' },
      },
    },
  }
  return {
    required: ['name', 'requiresApproval', 'approvers', ...(hasConfiguration ? ['configuration'] : [])],
    properties: {
      name: { title: t.name, description: t.nameHint, type: 'string', maxLength: 200 },
      description: { title: t.description, description: t.descriptionHint, type: 'string', maxLength: 4000 },
      ...(hasConfiguration && { configuration: { type: 'object', ...configurations[type] } }),
      cluster: { title: t.cluster, description: t.clusterHint, type: 'string', maxLength: 200 },
      requiresApproval: {
        title: t.approval,
        enum: [false, true, 'always'],
        enumTitles: t.approvals,
        default: false,
      },
      approvers: {
        title: t.approvers,
        enum: ['admins', 'chat'],
        enumTitles: t.approverNames,
        default: 'admins',
      },
    },
  }
}

/** Returns the initial values of a tool's form. */
export function valuesOf({ configuration, ...tool }: Partial<AgentTool>): Values {
  const { headers } = configuration ?? {}
  return {
    ...tool,
    configuration: { ...configuration, ...(typeof headers === 'string' && { headers: linesOf(headers) }) },
  }
}

/** Converts the form's values to a new tool. */
export function newToolOf(type: ToolType, { configuration, ...rest }: Values): NewTool {
  return { type, ...rest, configuration: configurationOf((configuration ?? {}) as Values) } as NewTool
}

/** Returns the update that applies these values; empty fields are cleared. */
export function changesOf({ configuration, ...rest }: Values): ToolChanges {
  const changes = { description: '', cluster: null, ...rest }
  return configuration === undefined
    ? (changes as ToolChanges)
    : ({ ...changes, configuration: configurationOf(configuration as Values) } as ToolChanges)
}

function configurationOf({ headers, ...rest }: Values): Record<string, unknown> {
  return typeof headers === 'string' ? { ...rest, headers: jsonOf(headers) } : { ...rest }
}

/** Converts the API's JSON of headers to lines; other text is unchanged. */
export function linesOf(json: string): string {
  try {
    const headers = JSON.parse(json) as Record<string, unknown>
    return Object.entries(headers)
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join('\n')
  } catch {
    return json
  }
}

/** Converts lines to JSON. Text that is no list of headers goes to the service, which reports the error. */
export function jsonOf(lines: string): string {
  const entries = lines
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line)?.slice(1))
  const names = new Set(entries.map(entry => entry?.[0]?.toLowerCase()))
  const isReadable =
    !lines.trimStart().startsWith('{') &&
    entries.every(entry => entry !== undefined) &&
    names.size === entries.length
  return isReadable ? JSON.stringify(Object.fromEntries(entries as string[][])) : lines
}
