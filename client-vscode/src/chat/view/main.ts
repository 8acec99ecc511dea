document.body.append('Sidelight');
