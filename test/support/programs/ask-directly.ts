/** Posts to the address of its first argument as models are asked, and prints the status of the answer. */
import { sendDirectly } from '../../../src/models/transport/send-directly.ts'

const { status } = await sendDirectly(process.argv[2] ?? '', { headers: {}, body: '{}', signal: undefined })
process.stdout.write(`${status}\n`, () => process.exit())
