/** The thread that prints: it makes the same page as this one, one after the other, and leaves nothing unanswered when it dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nfseOf } from '../../test/support/notas.ts';
import { renderDanfse } from './danfse.ts';
import { printAside, startPrinter } from './print-aside.ts';
import { PRINT_FAILURES } from './print-failures.ts';

const NFSE = nfseOf().toString();

test('the thread makes the page that this one makes, and answers in order', async () => {
  const [plain, cancelled, replaced] = await Promise.all([
    printAside(NFSE, undefined),
    printAside(NFSE, 'cancelada'),
    printAside(NFSE, 'substituida'),
  ]);
  assert.ok(plain.equals(renderDanfse(Buffer.from(NFSE))));
  assert.ok(cancelled.equals(renderDanfse(Buffer.from(NFSE), 'cancelada')));
  assert.ok(replaced.equals(renderDanfse(Buffer.from(NFSE), 'substituida')));
});

test('what is no NFS-e is refused as here, and the next note is printed', async () => {
  const [refused, printed] = await Promise.allSettled([printAside('<DPS/>', undefined), printAside(NFSE, undefined)]);
  assert.equal(refused.status, 'rejected');
  assert.throws(() => renderDanfse(Buffer.from('<DPS/>')), { message: refused.reason.message });
  assert.equal(printed.status, 'fulfilled');
});

for (const [death, program, told] of [
  ['that ends', 'process.exit(1)', []],
  ['that fails', 'throw new Error("broken")', ['broken']],
] as const) {
  test(`the notes of a thread ${death} are printed here`, async () => {
    const script = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const failures: string[] = [];
    const hear = (error: unknown): void => void failures.push((error as Error).message);
    PRINT_FAILURES.subscribe(hear);
    const printer = startPrinter(script);
    const pages = await Promise.all(
      (['cancelada', undefined] as const).map(
        (situacao) =>
          new Promise<Buffer>((resolve, reject) => printer.print({ asked: { nfse: NFSE, situacao }, resolve, reject })),
      ),
    );
    assert.ok(pages[0]!.equals(renderDanfse(Buffer.from(NFSE), 'cancelada')));
    assert.ok(pages[1]!.equals(renderDanfse(Buffer.from(NFSE))));
    assert.deepEqual(failures, told);
    PRINT_FAILURES.unsubscribe(hear);
  });
}
