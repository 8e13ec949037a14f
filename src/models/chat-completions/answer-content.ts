import type { StreamPart, ToolCall } from '../language-model/language-model.ts'
import { type Fields, fieldsOf, isFields, textOf } from './chunk.ts'
import { metadataKey } from './request-body.ts'
import { createThinkBlock } from './think-block.ts'
import { createToolCalls } from './tool-calls.ts'

type Block = 'text' | 'reasoning' | 'think'

/** Collects the content of an answer from its deltas, and emits text and reasoning as they arrive. */
export interface AnswerContent {
  /** Returns true if the delta had content. */
  take(delta: Fields): boolean
  /** Emits the text that was held back. */
  end(): void
  /** Returns the calls. Throws if one is incomprehensible. */
  calls(): ToolCall[]
  /** Returns true if there was any text. */
  hasText(): boolean
  hasRefused(): boolean
}

export interface ContentOptions {
  /** Names of the offered tools. */
  tools?: readonly string[]
  /** True if text is held back until the end of thoughts that might precede it. */
  holdsText?: boolean
  onUnopenedThoughts?(): void
}

export function createAnswerContent(
  emit: (part: StreamPart) => void,
  { tools = [], holdsText = false, onUnopenedThoughts = () => {} }: ContentOptions,
): AnswerContent {
  const calls = createToolCalls(tools)
  const { say, close } = createBlocks(emit)
  let hasText = false
  let hasRefused = false

  const text = createThinkBlock(
    {
      think: thought => say('think', thought),
      say(delta) {
        hasText ||= delta.trim() !== ''
        say('text', delta)
      },
      retract() {
        close()
        hasText = false
        emit({ type: 'text-retracted' })
      },
      onUnopened: onUnopenedThoughts,
    },
    holdsText,
  )

  function takePiece(block: 'text' | 'reasoning', piece: string): void {
    if (block === 'text') text.take(piece)
    else if (piece !== '') {
      text.release()
      say('reasoning', piece)
    }
  }

  /** Takes text and thoughts; returns true if there were any. Creates no lists: it runs for every token. */
  function takeTexts({ reasoning_content, reasoning, content, refusal }: Fields): boolean {
    const thought = textOf(reasoning_content) ?? textOf(reasoning)
    if (thought !== undefined) takePiece('reasoning', thought)
    const plain = textOf(content)
    if (plain !== undefined) takePiece('text', plain)
    else if (Array.isArray(content)) for (const [block, piece] of partsOf(content)) takePiece(block, piece)
    const refused = textOf(refusal)
    if (refused !== undefined) takePiece('text', refused)
    hasRefused ||= refused !== undefined
    return (thought ?? plain ?? refused) !== undefined || Array.isArray(content)
  }

  /** A single `function_call` is the form before `tool_calls`; some gateways send both. TGI sends a call without a list. */
  function takeCalls({ tool_calls: callList, function_call: former }: Fields): boolean {
    const listed = Array.isArray(callList) ? callList : isFields(callList) ? [callList] : []
    const all = listed.length === 0 && isFields(former) ? [{ index: 0, function: former }] : listed
    for (const call of all) calls.add(call)
    return all.length > 0
  }

  return {
    take(delta) {
      const hasTexts = takeTexts(delta)
      return takeCalls(delta) || hasTexts
    },
    end() {
      text.end()
      close()
    },
    calls: calls.finish,
    hasText: () => hasText,
    hasRefused: () => hasRefused,
  }
}

/** Reads content that is a list of parts, some of which can be reasoning, in Mistral's form. */
function* partsOf(content: readonly unknown[]): Generator<['text' | 'reasoning', string]> {
  for (const part of content) {
    const { type = 'text', thinking } = fieldsOf(part)
    if (type === 'text' || type === 'output_text') yield ['text', writtenIn(part)]
    if (type === 'thinking') yield ['reasoning', [thinking].flat().map(writtenIn).join('')]
  }
}

function writtenIn(part: unknown): string {
  return textOf(part) ?? textOf(fieldsOf(part).text) ?? ''
}

/**
 * Emits text and reasoning as blocks with a start and an end; one ends where the other starts. Thoughts from
 * within the text are marked: the server would not recognise them in the next prompt.
 */
function createBlocks(emit: (part: StreamPart) => void) {
  let open: Block | undefined

  function close(): void {
    if (open !== undefined) emit({ type: `${kindOf(open)}-end`, id: open })
    open = undefined
  }

  function say(block: Block, delta: string): void {
    const type = kindOf(block)
    if (open !== block) {
      close()
      emit({ type: `${type}-start`, id: block, ...(block === 'think' && { providerMetadata: ofText }) })
      open = block
    }
    emit({ type: `${type}-delta`, id: block, delta })
  }

  return { say, close }
}

function kindOf(block: Block): 'text' | 'reasoning' {
  return block === 'text' ? 'text' : 'reasoning'
}

const ofText = { [metadataKey]: { isOfText: true } }
