import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { query, useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import {
  type AgentTool,
  deleteCluster,
  listCredentials,
  listTools,
  setCredentials,
  type ToolCredential,
  toolsPath,
} from './requests.ts'
import { text } from './text.ts'
import { ToolList } from './tool-list.tsx'
import './tools.css'

/** The tools of a cluster, and the credentials that they need. */
export default function Cluster({ params: { cluster } }: ViewProps<'cluster'>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const rows = useRows<AgentTool>(listTools(agent, { cluster }), 'data')
  const { data: credentials, error } = useQuery(query(listCredentials(agent, cluster)))
  const removal = useChange(deleteCluster(agent), {
    changes: [toolsPath(agent)],
    onDone: () => toast(t.removed(cluster)),
  })

  async function remove() {
    const question = { title: t.removeTitle(cluster), text: t.removeClusterText, action: t.removeCluster }
    if (!(await confirm({ ...question, typed: cluster, isDangerous: true }))) return
    await navigate({ to: `${agent.home}/tools` })
    await removal.mutateAsync(cluster).catch(toastError)
  }

  return (
    <div className="page">
      <Heading title={cluster} detail={rows.total !== undefined && t.count(rows.total)}>
        <LinkButton to={`${agent.home}/tools`} kind="quiet" icon="previous">
          {t.back}
        </LinkButton>
        {agent.may('change') && (
          <Button kind="danger" icon="trash" onClick={() => void remove()}>
            {t.removeCluster}
          </Button>
        )}
      </Heading>
      {error && <Problem error={error} />}
      {credentials && (
        <section className="credentials" aria-label={t.credentials}>
          <h3>{t.credentials}</h3>
          <p className="hint">{credentials.data.length === 0 ? t.noCredentials : t.credentialsText}</p>
          {credentials.data.map(credential => (
            <Credential key={credential.name} cluster={cluster} credential={credential} />
          ))}
        </section>
      )}
      <h3>{t.tools}</h3>
      <ToolList rows={rows} hasClusters={false} empty={<Empty title={t.none} />} />
    </div>
  )
}

function Credential({ cluster, credential }: { cluster: string; credential: ToolCredential }) {
  const t = useText(text)
  const agent = useAgent()
  const { name, type, parameter, description, isSet, origins } = credential
  const set = useChange(setCredentials(agent, cluster), { changes: [toolsPath(agent)] })
  const secret = { type: 'string', writeOnly: true }
  const schema =
    type === 'basic'
      ? {
          required: ['username', 'password'],
          properties: {
            username: { title: t.username, type: 'string' },
            password: { ...secret, title: t.password },
          },
        }
      : { required: ['value'], properties: { value: { ...secret, title: t.value } } }
  const bodyOf = (values: Readonly<Record<string, unknown>>) => ({
    [name]: (type === 'basic' ? values : values.value) as string | { username: string; password: string },
  })

  async function remove() {
    const question = {
      title: t.removeCredentialTitle(name),
      text: t.removeCredentialText,
      action: t.removeCredential,
    }
    if (await confirm({ ...question, isDangerous: true }))
      set.mutate({ [name]: null }, { onError: toastError })
  }

  return (
    <section className="card credential" aria-label={name}>
      <Heading
        title={name}
        detail={<Status tone={isSet ? 'good' : 'warn'}>{isSet ? t.isSet : t.notSet}</Status>}
      >
        {isSet && agent.may('change') && (
          <Button kind="quiet" icon="trash" onClick={() => void remove()}>
            {t.removeCredential}
          </Button>
        )}
      </Heading>
      {description !== undefined && <p className="lead">{description}</p>}
      <p className="hint-text">
        {t.sentTo} <b>{origins.join(', ') || '–'}</b>
        {credential.in !== undefined && (
          <>
            {' '}
            {t.sentAs[credential.in]} <code>{parameter}</code>
          </>
        )}
      </p>
      {agent.may('change') && (
        <SchemaForm
          key={String(isSet)}
          schema={schema}
          submit={isSet ? t.replaceCredential : t.setCredential}
          request={values => setCredentials(agent, cluster)(bodyOf(values))}
          onSubmit={async values => {
            await set.mutateAsync(bodyOf(values))
            toast(t.credentialSaved(name))
          }}
        />
      )}
    </section>
  )
}
