import type { JsonSchema, Values } from '#console/ui/schema.ts'
import type { AgentTool, NewTool, ToolChanges, ToolType } from './requests.ts'
import type { en } from './text.ts'

type Fields = (typeof en)['fields']

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const code = { type: 'string', format: 'code' }

/** Whether a tool came from a document, which says how it is called. */
export const isImported = ({ configuration }: Pick<AgentTool, 'configuration'>) =>
  configuration.pathTemplate !== undefined

/** What the form of a kind of tool asks for. Without `hasConfiguration`, how it is called stays as it is. */
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

/** The values that the form of a tool begins with. */
export function valuesOf({ configuration, ...tool }: Partial<AgentTool>): Values {
  const { headers } = configuration ?? {}
  return {
    ...tool,
    configuration: { ...configuration, ...(typeof headers === 'string' && { headers: linesOf(headers) }) },
  }
}

/** The tool that the values of the form stand for. */
export function newToolOf(type: ToolType, { configuration, ...rest }: Values): NewTool {
  return { type, ...rest, configuration: configurationOf((configuration ?? {}) as Values) } as NewTool
}

/** What changes a tool into that: fields left empty are emptied. */
export function changesOf({ configuration, ...rest }: Values): ToolChanges {
  const changes = { description: '', cluster: null, ...rest }
  return configuration === undefined
    ? (changes as ToolChanges)
    : ({ ...changes, configuration: configurationOf(configuration as Values) } as ToolChanges)
}

function configurationOf({ headers, ...rest }: Values): Record<string, unknown> {
  return typeof headers === 'string' ? { ...rest, headers: jsonOf(headers) } : { ...rest }
}

/** Headers as people write them, one a line, from the JSON of the API; other text stays as it is. */
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

/** The reverse. Text that is no list of headers is left to the service, which says what is wrong with it. */
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
