/** Rules of the complementary information, `serv/infoCompl`. Its sizes are structure, in the layout. */
import { annexHead, type Rule } from './rule.ts';

export const INFO_COMPL: readonly Rule[] = [
  {
    ...annexHead('E0420'),
    at: 'serv/infoCompl/docRef',
    title: 'Nota emitida pelo tomador ou intermediário sem o documento de referência',
    mend: 'Informe em serv/infoCompl/docRef o documento que o prestador entregou; se quem emite é o prestador, envie tpEmit 1.',
    message: ({ tpEmit }) =>
      `Quem emite é o ${tpEmit === '2' ? 'tomador' : 'intermediário'} (tpEmit ${tpEmit}), e falta o documento de referência. Informe-o em serv/infoCompl/docRef.`,
    why: 'Quem emite no lugar do prestador diz em que documento dele se baseia.',
    when: ({ tpEmit }) => tpEmit !== '1',
    must: ({ serv }) => serv.infoCompl?.docRef !== undefined,
    expected: 'documento de referência, de 1 a 255 caracteres',
    also: ['E9996'],
    rejects: [{ tpEmit: '2', cMotivoEmisTI: '2' }],
    accepts: [{ 'serv/infoCompl/docRef': 'Contrato 2026/17' }],
  },
];
