import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '#console/api/client.ts'
import { useChange } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { CheckField } from '#console/ui/field.tsx'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { Heading } from '#console/ui/heading.tsx'
import type { JsonSchema } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Segments } from '#console/ui/tabs.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { type AgentTool, type ImportAnswer, type ImportBody, importTools, toolsPath } from './requests.ts'
import { text } from './text.ts'
import './tools.css'

interface Preview {
  body: ImportBody
  answer: ImportAnswer
}

/** Reads a document first, then imports the chosen tools. */
export default function Import() {
  const [preview, setPreview] = useState<Preview>()
  return (
    <div className="page">
      {preview === undefined ? (
        <Document onRead={setPreview} />
      ) : (
        <Choice {...preview} onBack={() => setPreview(undefined)} />
      )}
    </div>
  )
}

const sources = ['url', 'file', 'spec'] as const
type Source = (typeof sources)[number]

/** The form for the document's address and the handling of its tools. */
function Document({ onRead }: { onRead(preview: Preview): void }) {
  const t = useText(text)
  const agent = useAgent()
  const [source, setSource] = useState<Source>('url')
  const [file, setFile] = useState<{ name: string; spec: string }>()
  const schemas: Record<Source, JsonSchema> = {
    url: { title: t.documentUrl, type: 'string', examples: ['https://example.com/openapi.json'] },
    spec: { title: t.documentText, type: 'string', format: 'code' },
    file: {},
  }
  const { cluster, requiresApproval } = schemaOfHandling(t)
  const bodyOf = (values: object): ImportBody => ({
    ...values,
    ...(source === 'file' && { spec: file?.spec ?? '' }),
    preview: true,
  })
  const isFile = source === 'file'
  return (
    <>
      <p className="lead">{t.importHint}</p>
      <Segments
        label={t.source}
        chosen={source}
        segments={sources.map(name => ({ name, title: t.sources[name] }))}
        onChoose={(name: Source) => setSource(name)}
      />
      {isFile && (
        <div className="document">
          <FileDrop
            label={t.documentFile}
            isSingle
            accept=".json,.yaml,.yml"
            onFiles={([one]) => {
              void one?.text().then(spec => setFile({ name: one.name, spec }))
            }}
          />
          {file && <p>{file.name}</p>}
        </div>
      )}
      {(!isFile || file) && (
        <SchemaForm
          key={source}
          schema={{
            required: isFile ? ['requiresApproval'] : [source, 'requiresApproval'],
            properties: { ...(!isFile && { [source]: schemas[source] }), cluster, requiresApproval },
          }}
          submit={t.read}
          request={values => importTools(agent)(bodyOf(values))}
          onSubmit={async values => {
            const body = bodyOf(values)
            onRead({ body, answer: await send(importTools(agent)(body)) })
          }}
        />
      )}
    </>
  )
}

const schemaOfHandling = (t: ReturnType<typeof text.current>) => ({
  cluster: { title: t.cluster, description: t.clusterOfImport, type: 'string', maxLength: 200 },
  requiresApproval: {
    title: t.fields.approval,
    enum: [false, true, 'always'],
    enumTitles: t.fields.approvals,
    default: false,
  },
})

interface ChoiceProps extends Preview {
  onBack(): void
}

/** The document's tools as checkboxes; skipped ones with the reason. */
function Choice({ body, answer, onBack }: ChoiceProps) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data, skipped, warnings } = answer
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(data.map(({ name }) => name)))
  const doImport = useChange(importTools(agent), {
    changes: [toolsPath(agent)],
    onDone(imported) {
      toast(t.importedCount(imported.data.length))
      const cluster = imported.data[0]?.cluster
      const isComplete = imported.credentials.every(({ isSet, origins }) => isSet || origins.length === 0)
      void navigate({
        to:
          isComplete || cluster === undefined
            ? `${agent.home}/tools`
            : `${agent.home}/tools/cluster/${path`${cluster}`}`,
      })
    },
  })
  const { preview: _, ...rest } = body
  const toSend = { ...rest, ...(chosen.size < data.length && { names: [...chosen] }) }
  const toggle = (name: string) => setChosen(chosen.symmetricDifference(new Set([name])))
  return (
    <>
      <Heading title={t.choose} detail={t.chosen(chosen.size, data.length)}>
        <Button kind="quiet" icon="previous" onClick={onBack}>
          {t.otherDocument}
        </Button>
        <Button
          kind="primary"
          disabled={chosen.size === 0 || doImport.isPending}
          onClick={() => doImport.mutate(toSend, { onError: toastError })}
        >
          {t.importChosen(chosen.size)}
        </Button>
      </Heading>
      {data.length === 0 ? (
        <Empty title={t.noOperations} text={skipped.length > 0 ? t.noOperationsText : undefined} />
      ) : (
        <div className="card">
          <div className="tick all">
            <CheckField
              label={t.allOfThem}
              value={chosen.size === data.length}
              onChange={isAll => setChosen(new Set(isAll ? data.map(({ name }) => name) : []))}
            />
          </div>
          <ul className="ticks" aria-label={t.tools}>
            {data.map(tool => (
              <Tick key={tool.id} tool={tool} isChosen={chosen.has(tool.name)} onToggle={toggle} />
            ))}
          </ul>
        </div>
      )}
      <Notes
        title={t.skipped(skipped.length)}
        isOpen
        notes={skipped.map(({ operation, reason }, at) => ({ at, operation, why: reason }))}
      />
      <Notes
        title={t.warnings(warnings.length)}
        notes={warnings.map(({ operation, warning }, at) => ({ at, operation, why: warning }))}
      />
    </>
  )
}

interface TickProps {
  tool: AgentTool
  isChosen: boolean
  onToggle(name: string): void
}

function Tick({ tool: { name, description, configuration, isEnabled }, isChosen, onToggle }: TickProps) {
  const t = useText(text)
  const { method, pathTemplate } = configuration as { method?: string; pathTemplate?: string }
  return (
    <li className="tick">
      <CheckField
        label={name}
        hint={description.slice(0, 200)}
        value={isChosen}
        onChange={() => onToggle(name)}
      />
      <code>
        {method} {pathTemplate?.slice(0, 200)}
        {!isEnabled && ` · ${t.off}`}
      </code>
    </li>
  )
}

interface NotesProps {
  title: string
  notes: readonly { at: number; operation: string | undefined; why: string }[]
  isOpen?: boolean
}

function Notes({ title, notes, isOpen = false }: NotesProps) {
  return (
    notes.length > 0 && (
      <details className="card notes" open={isOpen}>
        <summary>{title}</summary>
        <dl>
          {notes.map(({ at, operation, why }) => (
            <div key={at}>
              <dt className="mono">{operation}</dt>
              <dd>{why}</dd>
            </div>
          ))}
        </dl>
      </details>
    )
  )
}
