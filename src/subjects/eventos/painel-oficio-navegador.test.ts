/**
 * A request of fiscal analysis is decided in a browser, with and without scripts. axe checks each page on the way, on a phone and on a
 * desktop, light and dark. NFSE_TEST_IMAGENS names a folder for pictures.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assertAccessible, assertFits } from '../../../test/support/axe.ts';
import { openBrowser, type Page } from '../../../test/support/browser.ts';
import { balcao, bancada } from '../../../test/support/eventos.ts';
import { ANALISE, PEDIDO_DE_ANALISE, plays } from '../../../test/support/historias.ts';
import { enterInBrowser, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';

const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;
const PICTURES = process.env['NFSE_TEST_IMAGENS'];
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

/** Checks the open page at both widths, light and dark. */
async function look(page: Page, called: string): Promise<void> {
  for (const width of [390, 1_280]) {
    for (const isDark of [false, true]) {
      const whole = `${called}-${width}${isDark ? '-escura' : ''}`;
      await page.resize(width, 900);
      await page.dark(isDark);
      await assertFits(page, whole);
      await assertAccessible(page, whole);
      if (PICTURES !== undefined) await page.picture(path.join(PICTURES, `${whole}.png`));
    }
  }
  await page.dark(false);
}

const says = (page: Page, text: string): Promise<void> =>
  page.until(`document.body.innerText.includes(${JSON.stringify(text)})`);

describe('a request of fiscal analysis', { skip }, () => {
  for (const scripts of [true, false]) {
    test(`is decided from Pendências to the note, ${scripts ? 'with scripts' : 'without'}`, async () => {
      if (browser === undefined) return;
      const service = await startTestService({ worker: false });
      const painel = await startTestPainel(service);
      const { issue, registered } = balcao(service.address);
      const work = bancada(service.world);
      const nota = await issue({ 'toma/CPF': null, 'toma/CNPJ': '11444777000161', 'toma/xNome': 'Padaria São João' });
      await work.notas();
      await registered(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
      await work.eventos();
      const page = await browser.newPage(true);
      await page.resize(1_280, 900);
      await page.scripts(scripts);
      await enterInBrowser(page, painel, await makeUsuario(painel, 'olga', { integracao: 'operacao' }));
      const at = (where: string): string => `${painel.origin}/m/integracao${where}`;
      await page.open(at('/pendencias'));
      await page.click('a[href*="tipo=cancelamento_deferido"]');
      await says(page, 'A que se responde');
      await says(page, 'Serviço que não foi prestado');
      await says(page, '11.444.777/0001-61');
      if (scripts) await look(page, 'ato-campos');
      const fields = {
        ...{ cnpj: '99.999.999/0001-91', cpf_agente_tributario: '529.982.247-25' },
        ...{ numero_processo_administrativo: '2026/123-4', descricao_motivo: 'Comprovado que não foi prestado' },
      };
      for (const [name, text] of Object.entries(fields)) await page.fill(`#campo-${name}`, text);
      await page.click('main form[method=post] button');
      await says(page, 'Nada foi registrado ainda.');
      await says(page, 'nenhum evento devolve uma nota cancelada');
      if (scripts) await look(page, 'ato-confirmar');
      await page.click('button[name=voltar]');
      await says(page, 'A que se responde');
      assert.equal(
        await page.evaluate(`document.querySelector('#campo-numero_processo_administrativo').value`),
        '2026/123-4',
      );
      await page.click('main form[method=post] button');
      await says(page, 'Nada foi registrado ainda.');
      await page.click('button.grave');
      await says(page, 'O evento foi registrado');
      await work.eventos();
      await page.open(at(`/notas/${nota.chave_acesso}`));
      await says(page, 'Cancelamento de NFS-e Deferido por Análise Fiscal nº 1');
      assert.equal(await page.evaluate(`document.querySelector('main .recado .estado').innerText`), 'Cancelada');
      await page.open(at('/pendencias?tipo=analise_fiscal'));
      await says(page, 'Nada deste tipo espera pela prefeitura.');
      assert.deepEqual(page.complaints, []);
      if (!scripts) return;
      const other = await issue();
      await work.notas();
      await page.open(at(`/notas/${other.chave_acesso}`));
      await look(page, 'ato-nota');
      const { id_evento } = await registered(
        other,
        { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE },
        plays('adn:rejeita=E1234'),
      );
      await page.open(at(`/evento/${id_evento}`));
      await look(page, 'ato-evento');
      await page.click('details:has(form[action$="/cancelar"]) summary');
      await page.click('form[action$="/cancelar"] button');
      await says(page, 'Retirar antes do envio?');
      await look(page, 'ato-retirar');
      await page.click('button.grave');
      await says(page, 'O evento foi retirado');
      await page.open(`${painel.origin}/conta`);
      await look(page, 'ato-conta');
      const stuck = await registered(
        other,
        { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE },
        plays('adn:rejeita=E1234'),
      );
      await work.eventos();
      await page.open(at('/eventos'));
      await says(page, String(stuck.id_evento));
      await look(page, 'ato-varios');
    });
  }
});
