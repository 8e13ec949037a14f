import { useMutation, useQuery } from '@tanstack/react-query'
import { send } from '#console/api/client.ts'
import { query } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { argumentsOf, formOf } from './arguments.ts'
import { type AgentTool, listServerTools, type TestAnswer, testTool } from './requests.ts'
import { text } from './text.ts'

/** Calls a tool once with arguments from a form, and shows the result. */
export function TestForm({ tool }: { tool: AgentTool }) {
  const t = useText(text)
  const agent = useAgent()
  const { configuration, type } = tool
  const { serverId, toolName } = configuration as { serverId?: string; toolName?: string }
  const isOfServer = type === 'mcp'
  const server = useQuery({
    ...query(listServerTools(agent, serverId ?? '', toolName ?? '')),
    enabled: isOfServer && agent.may('change'),
  })
  if (!agent.may('change')) return <p className="hint">{t.noTest}</p>
  if (isOfServer && server.isPending) return null
  const parameters = isOfServer
    ? server.data?.tools.find(({ name }) => name === toolName)?.parameters
    : (configuration.parameters ?? placeholdersOf(configuration))
  return (
    <>
      {isOfServer && parameters === undefined && <p className="hint">{t.unknownArguments}</p>}
      <Form key={tool.updated_at} tool={tool} parameters={parameters} />
    </>
  )
}

function Form({ tool, parameters }: { tool: AgentTool; parameters: unknown }) {
  const t = useText(text)
  const agent = useAgent()
  const request = (values: Readonly<Record<string, unknown>>) =>
    testTool(agent, tool.id)(argumentsOf(parameters, values))
  const call = useMutation({
    mutationFn: (values: Readonly<Record<string, unknown>>) => send(request(values)),
  })
  return (
    <div className="test">
      <SchemaForm
        schema={formOf(parameters)}
        submit={t.run}
        request={request}
        onSubmit={values => call.mutateAsync(values)}
      >
        <p className="hint">{t.testHint}</p>
      </SchemaForm>
      <div aria-live="polite">{call.data && <Result answer={call.data} />}</div>
    </div>
  )
}

function Result({ answer: { success, data } }: { answer: TestAnswer }) {
  const t = useText(text)
  const { result, error, coerced = [], duration_ms } = data
  const shown = typeof result === 'string' ? result : JSON.stringify(result, undefined, 2)
  return (
    <section className="result" aria-label={t.result}>
      <p>
        <Status tone={success ? 'good' : 'bad'}>{success ? t.succeeded : t.failed}</Status>{' '}
        <span className="hint num">{t.took(duration_ms)}</span>
      </p>
      {coerced.length > 0 && (
        <div className="hint">
          {t.coerced}
          <ul>
            {coerced.map(one => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </div>
      )}
      <CodeBlock label={t.result} text={error ?? shown ?? ''} />
    </section>
  )
}

/** Returns a schema of the placeholders in an HTTP call without described arguments. */
function placeholdersOf({ url, headers, body }: AgentTool['configuration']) {
  if (url === undefined) return undefined
  const template = [url, headers, body]
    .map(part => (typeof part === 'string' ? part : JSON.stringify(part ?? '')))
    .join('\n')
  const names = [...template.matchAll(/\{([A-Za-z_.-][\w.-]*)\}/g)].map(([, name]) => name ?? '')
  return { required: names, properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])) }
}
