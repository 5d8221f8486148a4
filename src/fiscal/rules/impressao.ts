/** Letters that a note may hold and that its printed form (DANFSe) does not have. */
import { quoted } from '../fault.ts';
import type { Dps, DpsPath } from '../layout/dps.ts';
import { findUnprinted, isPrinted } from '../letras-impressas.ts';
import { describeBroken } from './codificacao.ts';
import type { Breach, Rule } from './rule.ts';

/** The printed texts among those that may hold any character. The name of an issuing provider comes from the register (D-34). */
const IMPRESSOS: readonly (readonly [at: DpsPath, of: (dps: Dps) => string | undefined])[] = [
  ['prest/IM', ({ prest }) => prest.IM],
  ['prest/NIF', ({ prest }) => prest.NIF],
  ['prest/xNome', ({ prest, tpEmit }) => (tpEmit === '1' ? undefined : prest.xNome)],
  ['prest/end/endExt/xCidade', ({ prest }) => prest.end?.endExt?.xCidade],
  ['toma/IM', ({ toma }) => toma?.IM],
  ['toma/NIF', ({ toma }) => toma?.NIF],
  ['toma/xNome', ({ toma }) => toma?.xNome],
  ['toma/end/endExt/xCidade', ({ toma }) => toma?.end?.endExt?.xCidade],
  ['interm/IM', ({ interm }) => interm?.IM],
  ['interm/NIF', ({ interm }) => interm?.NIF],
  ['interm/xNome', ({ interm }) => interm?.xNome],
  ['interm/end/endExt/xCidade', ({ interm }) => interm?.end?.endExt?.xCidade],
  ['serv/cServ/xDescServ', ({ serv }) => serv.cServ.xDescServ],
  ['serv/obra/cObra', ({ serv }) => serv.obra?.cObra],
  ['serv/obra/inscImobFisc', ({ serv }) => serv.obra?.inscImobFisc],
  ['serv/atvEvento/idAtvEvt', ({ serv }) => serv.atvEvento?.idAtvEvt],
  ['serv/infoCompl/idDocTec', ({ serv }) => serv.infoCompl?.idDocTec],
  ['IBSCBS/dest/NIF', ({ IBSCBS }) => IBSCBS?.dest?.NIF],
  ['IBSCBS/dest/end/endExt/xCidade', ({ IBSCBS }) => IBSCBS?.dest?.end?.endExt?.xCidade],
  ['IBSCBS/imovel/inscImobFisc', ({ IBSCBS }) => IBSCBS?.imovel?.inscImobFisc],
];

/** Every note is examined; nothing is allocated until something is found. */
function hasUnprinted(dps: Dps): boolean {
  for (const [, of] of IMPRESSOS) {
    const text = of(dps);
    if (text !== undefined && !isPrinted(text)) return true;
  }
  return false;
}

function findAll(dps: Dps): readonly Breach[] {
  return IMPRESSOS.flatMap(([at, of]) => {
    const text = of(dps);
    if (text === undefined) return [];
    const found = findUnprinted(text);
    // A text with lost letters is reported as such.
    if (found === undefined || describeBroken(text) !== undefined) return [];
    const { palavra, escrita } = found;
    const mensagem = `O texto traz "${quoted(palavra)}", e o DANFSe (PDF) não imprime ${escrita}: no lugar sai "?". A nota vale, e o XML leva o texto como veio. Para que se leia no PDF, escreva-o também em letras latinas.`;
    return [{ at, mensagem, encontrado: undefined }];
  });
}

export const IMPRESSAO: readonly Rule[] = [
  {
    code: 'E0003',
    // The path is nominal: the breaches name the actual text.
    at: 'toma/xNome',
    scope: 'aviso',
    message: 'O texto traz letras que o DANFSe (PDF) não imprime.',
    origin: 'Decisão D-153',
    why: 'Nomes e descrições levam qualquer caractere. O DANFSe imprime as letras latinas, gregas, cirílicas, chinesas, japonesas e coreanas; das outras sai "?".',
    must: (dps) => !hasUnprinted(dps) || findAll(dps).length === 0,
    breaches: findAll,
    rejects: [{ 'toma/xNome': 'شركة النور Ltda' }, { 'toma/xNome': 'Clínica ✅ Ltda' }],
    accepts: [{ 'toma/xNome': 'Łódź 北京中文科技有限公司' }],
  },
];
